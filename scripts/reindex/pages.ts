import type { Composition } from '../../services/normaliser/article.ts'
import { type Composer, composerOptions, openComposer } from '../../services/normaliser/composer.ts'
import { loadPage } from '../../services/normaliser/pages/load.ts'
import { teach } from '../../services/normaliser/template.ts'
import { counted } from '../../shared/log/printable.ts'
import { type Pool, transaction } from '../../shared/postgres/pool.ts'
import { type CommandContext, UsageError } from '../../shared/process/command.ts'
import { articlesBar } from '../terminal/terminal.ts'
import { createRateLimit } from './run.ts'

/** Pages that are in memory at a time: one may have 10 MB. */
const PART = 16

/** The result of a run. */
interface Reread {
  pages: number
  /** Articles whose field would be another one today. They stay as they are (decision 24). */
  different: Record<ComparedField, number>
  /** Refused pages of which an article would be made today. */
  returned: number
}
const COMPARED = ['title', 'date', 'authors', 'text'] as const
type ComparedField = (typeof COMPARED)[number]

/**
 * Reads all stored pages again, with the present rules and with what outlets' pages have taught.
 * Outlets without a template learn theirs. Refused pages that would be articles today go back to
 * the normaliser. Articles stay as they are; those that would differ are counted.
 */
export async function reindexPages(
  { config, options, print, say, signal }: CommandContext,
  pool: Pool,
  rate: number | null,
): Promise<number> {
  if (['language', 'from', 'to', 'vectors'].some(name => options[name] !== undefined)) {
    throw new UsageError('--pages goes with --outlet, --rate, --dry-run and --json alone.')
  }
  const outlet = typeof options.outlet === 'string' ? options.outlet.toLowerCase() : null
  const limit = createRateLimit(rate, signal)
  const total = await countPages(pool, outlet)
  const run: Reread = { pages: 0, different: { title: 0, date: 0, authors: 0, text: 0 }, returned: 0 }
  const composer = openComposer(composerOptions(config))
  const bar = articlesBar(total)
  const changes = options['dry-run'] !== true
  try {
    const untaught = await untaughtOutlets(pool)
    const articles = await articlesOfPages(pool)
    for (let after = 0n; !signal.aborted; ) {
      const part = await nextPages(pool, outlet, after)
      const last = part.at(-1)
      if (last === undefined) break
      after = last.page_no
      await readPart({ pool, composer, changes, untaught, articles }, part, run)
      run.pages += part.length
      bar.update(run.pages)
      await limit(part.length)
    }
  } finally {
    bar.stop()
    await composer.close()
  }
  const done = !signal.aborted
  if (options.json === true) print(JSON.stringify({ what: 'pages', ...run, done }))
  say(summary(run, done, changes))
  return done ? 0 : 1
}

interface Part {
  pool: Pool
  composer: Composer
  changes: boolean
  untaught: ReadonlySet<number>
  /** `seq` of the article that was made of each page. */
  articles: ReadonlyMap<bigint, bigint>
}
interface Row {
  page_no: bigint
  outlet_no: number
  state: 'done' | 'refused'
}

async function readPart(
  { pool, composer, changes, untaught, articles }: Part,
  rows: Row[],
  run: Reread,
): Promise<void> {
  const compositions = await Promise.all(rows.map(row => reread(pool, composer, row.page_no)))
  const seqs = rows.flatMap(({ page_no }) => articles.get(page_no) ?? [])
  const stored = await storedArticles(pool, seqs)
  const lessons: Parameters<typeof teach>[1] = []
  const returned: bigint[] = []
  for (const [at, { page_no: pageNo, outlet_no: outletNo, state }] of rows.entries()) {
    const composition = compositions[at]
    if (composition?.kind !== 'article') continue
    if (state === 'refused') returned.push(pageNo)
    else if (untaught.has(outletNo)) lessons.push({ outletNo, lesson: composition.lesson })
    const before = stored.get(pageNo)
    for (const field of before === undefined ? [] : differences(composition, before)) run.different[field] += 1
  }
  run.returned += returned.length
  if (!changes) return
  await transaction(pool, async client => {
    await teach(client, lessons)
    await client.query(
      `update pages set state = 'stored', reason = null, detail = null, attempts = 0, finished_at = null, next_try_at = now()
        where page_no = any ($1) and state = 'refused'`,
      [returned],
    )
  })
}

/** Null: the page is gone, or no thread can read it. The normaliser reports such pages. */
async function reread(pool: Pool, composer: Composer, pageNo: bigint): Promise<Composition | null> {
  const loaded = await loadPage(pool, pageNo, { finished: true })
  if (loaded === null || !loaded.isKept) return null
  return composer.compose(loaded.page, { template: loaded.template }).catch(() => null)
}

interface Stored {
  page_no: bigint
  title: string
  date: Date | null
  authors: string[]
  text: string | null
}

function differences({ article }: Extract<Composition, { kind: 'article' }>, before: Stored): ComparedField[] {
  const isSame: Record<ComparedField, boolean> = {
    title: article.title === before.title,
    date: article.publishedAt?.getTime() === before.date?.getTime(),
    authors: article.authors.join('\n') === before.authors.join('\n'),
    text: article.body === before.text,
  }
  return COMPARED.filter(field => !isSame[field])
}

/**
 * The articles that were made of stored pages, by page. Read once: `embeddings` has no index by
 * page, so this reads all of it. Articles that are made during the run are not compared.
 */
async function articlesOfPages(pool: Pool): Promise<Map<bigint, bigint>> {
  const { rows } = await pool.query<{ page_no: bigint; seq: bigint }>(
    'select e.page_no, e.seq from embeddings e join page_sources s using (page_no) where s.body is not null',
  )
  return new Map(rows.map(row => [row.page_no, row.seq]))
}

/** The articles, by page. Indexes: the primary keys. */
async function storedArticles(pool: Pool, seqs: bigint[]): Promise<Map<bigint, Stored>> {
  const found = await pool.query<Stored>(
    `select e.page_no, t.title, a.published_at as date, t.body as text,
            array(select name from unnest(a.author_nos) with ordinality n (author_no, place)
                    join authors using (author_no) order by place) as authors
       from embeddings e join articles a using (seq) join article_texts t using (seq)
      where e.seq = any ($1)`,
    [seqs],
  )
  return new Map(found.rows.map(row => [row.page_no, row]))
}

/** Outlets that have learned nothing yet: their pages were read by an older version. */
async function untaughtOutlets(pool: Pool): Promise<Set<number>> {
  const { rows } = await pool.query<{ outlet_no: number }>(
    'select outlet_no from outlets where outlet_no not in (select outlet_no from outlet_templates)',
  )
  return new Set(rows.map(row => row.outlet_no))
}

// $1 domain of the outlet. Index: the primary key of page_sources.
const CHOSEN = `
  from page_sources s join pages p using (page_no) join outlets o using (outlet_no)
  where p.state in ('done', 'refused') and s.body is not null and ($1::text is null or o.domain = $1)`

async function countPages(pool: Pool, outlet: string | null): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n ${CHOSEN}`, [outlet])
  return rows[0]?.n ?? 0
}

async function nextPages(pool: Pool, outlet: string | null, after: bigint): Promise<Row[]> {
  const { rows } = await pool.query<Row>(
    `select page_no, outlet_no, p.state ${CHOSEN} and s.page_no > $2 order by page_no limit $3`,
    [outlet, after, PART],
  )
  return rows
}

function summary({ pages, different, returned }: Reread, done: boolean, changes: boolean): string {
  const fields = COMPARED.filter(field => different[field] > 0).map(field => `${field} ${different[field]}`)
  return [
    `${done ? 'Read' : 'Interrupted after'} ${counted(pages, 'stored page')}.`,
    fields.length === 0
      ? 'Every article would be the same today.'
      : `Articles that would differ today, and stay as they are: ${fields.join(', ')}.`,
    ...(returned === 0
      ? []
      : [`${counted(returned, 'refused page')} ${changes ? 'went' : 'would go'} back to the normaliser.`]),
  ].join(' ')
}
