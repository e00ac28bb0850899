import { addressHash, firstDomain } from '#search/removals'
import { type Explanation, explainPage, type FieldExplanation } from '#services/normaliser/explain'
import { type LoadedPage, loadPage } from '#services/normaliser/pages/load'
import { addressKey, readAddress } from '#shared/articles/address'
import { type AgencyEvidence, agenciesOf, agencyEvidence } from '#shared/articles/agencies'
import { COUNTRIES } from '#shared/articles/article'
import { findArticles, namedBy } from '#shared/articles/find'
import type { Config } from '#shared/config/config'
import { modelNamed } from '#shared/embeddings/models'
import { counted, describe, printableLine } from '#shared/log/printable'
import { FIELDS, type Field, type Origins, readOrigins } from '#shared/outlets/origins'
import type { StoredPage } from '#shared/outlets/page'
import { rightsRules, type Signal, signalInWords } from '#shared/outlets/rights'
import { type Pool, readColumn, readRow, readValue } from '#shared/postgres/pool'
import { type CommandContext, runCommand, UsageError } from '#shared/process/command'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { readCollections } from '#shared/vectors/registry'
import {
  AROUND,
  AROUND_LIMIT,
  chooseRelated,
  leastOf,
  type Related,
  readSubjects,
} from '#shared/vectors/related'
import { ofTheirArticles, VectorFailure } from '#shared/vectors/store'
import { openTrial } from './outlets/trial.ts'
import { columns } from './terminal/terminal.ts'

/*
 * The database does not record why a field has its value. So an explanation composes the page again
 * with the normaliser's own code, which shows its candidates. It compares the result with the
 * stored article.
 */

/** The most characters of a value in a line. */
const WIDTH = 90

const keysOf = (word: string) => (readAddress(word) === null ? [] : [word, addressKey(word)])

type ShownRelated = Omit<Related, 'seq'> & { title: string }

const EVERYTHING = { countries: [...COUNTRIES], since: new Date(0) }
/** ms that the command waits for Qdrant. */
const PATIENCE = 3_000

// $1 numbers of articles. Those that were taken out have no text.
const ARTICLE = `
  select coalesce(e.page_no, r.page_no) as "pageNo", a.id, t.url, t.title, a.published_at as date,
         a.seq, array(select name from unnest(a.author_nos) with ordinality n (author_no, place)
                 join authors using (author_no) order by place) as authors, t.body as text, a.language, p.origins
    from articles a join article_texts t using (seq) left join embeddings e using (seq)
    left join article_rights r on r.id = a.id left join pages p on p.page_no = coalesce(e.page_no, r.page_no)
   where a.seq = any ($1::bigint[]) order by a.seq desc limit 1`

// Articles have no index by number of page. So this statement reads the primary keys backwards, the
// newest first.
const BACKWARDS = { enable_seqscan: 'off', max_parallel_workers_per_gather: '0' }
const BY_PAGE = `
  (select seq from embeddings where page_no = $1 order by seq desc limit 1)
  union all
  (select seq from articles where id in (select id from article_rights where page_no = $1) order by seq desc limit 1)
  limit 1`

// A tombstone has no address, and hashes of all. $1 id, $2 addresses and their keys. Indexes:
// tombstones_id_key, the primary key of tombstone_addresses.
const REMOVED = `
  select id, removed_at as at, released_at is null as "isBarred" from tombstones where id = $1
  union all
  select t.id, t.removed_at, true from (select distinct ${firstDomain('outlet')} as outlet from publishers) p
    cross join unnest($2::text[]) as w (address) cross join tombstone_key k
    join tombstone_addresses h on h.hash = ${addressHash('p.outlet', 'w.address')}
    join tombstones t using (seq)
  limit 1`

await runCommand(
  {
    name: 'explain',
    words: true,
    about: [
      'Says where the title, date, authors, text, language and news agencies of an article come from. It reads the stored',
      'page as the normaliser does today, and prints the candidates of each field in order of rank, and why one won.',
      'Nothing is stored.',
      'Articles on the same event follow: the days between them, how close they are, and from when on articles are shown.',
      'ID is that of an article, or page:N. The article of an old page takes longer to find.',
    ].join('\n'),
    usage: ['ID | URL [--fetch] [--json]'],
    options: {
      fetch: { about: 'asks the outlet for the page again, when it is no longer stored' },
      json: { about: 'prints one object: the page, its candidates, the article as stored' },
    },
    beside: true,
  },
  async context => {
    const { options, positionals, print } = context
    const [word, ...rest] = positionals
    if (word === undefined || rest.length > 0)
      throw new UsageError('Name one article or page, by its id or address.')
    const pool = context.openPool({ max: 1, settings: BACKWARDS })
    const found = await findPage(pool, word)
    const removed = found?.stored ? null : await removedInWords(pool, word)
    if (removed !== null) throw new UsageError(removed)
    const related = found?.seq ? await relatedTo(context.config, pool, found.seq) : null
    if (found?.stored && found.pageNo === null && !options.fetch) {
      const { stored } = found
      const agencies = agencyEvidence({ authors: stored.authors, body: stored.text })
      const all = { url: stored.url, page: null, imported: true, stored, related, agencies }
      const words = [
        importedInWords(stored),
        ...agenciesInWords(agencies),
        '',
        relatedInWords(related),
      ]
      return print(options.json ? JSON.stringify(all) : words.join('\n'))
    }
    const page = await pageToRead(context, word, found)
    const explanation = await explainPage(
      page,
      new Date(),
      found?.loaded?.template ?? null,
      rightsRules(context.config),
    )
    const stored = found?.stored ?? null
    const { url, fetchedAt } = page
    const pageNo = found?.pageNo ?? null
    const id = pageNo === null ? null : `page:${pageNo}`
    const all = { url, page: id, fetchedAt, ...explanation, stored, related }
    const words = [
      explanationInWords(page, explanation, stored),
      ...(stored ? ['', relatedInWords(related)] : []),
    ]
    print(options.json ? JSON.stringify(all) : words.join('\n'))
  },
)

/** Says that an operator took the article out, and what can be done; null: nobody did. */
async function removedInWords(pool: Pool, word: string): Promise<string | null> {
  const row = await readRow<{ id: string; at: Date; isBarred: boolean }>(pool, REMOVED, [
    word,
    keysOf(word),
  ])
  if (row === undefined) return null
  const { id, at, isBarred } = row
  const back = isBarred
    ? `It is not crawled or imported again; "npm run articles -- release ${id}" frees its addresses.`
    : 'Its addresses are free again.'
  return `Article ${id} was taken out on ${at.toISOString()}, so nothing is left to explain. "npm run articles -- list" says why. ${back}`
}

/** @throws UsageError when there is nothing to read */
async function pageToRead(
  { config, options, signal }: CommandContext,
  word: string,
  found: FoundPage | null,
) {
  const loaded = found?.loaded
  if (loaded?.isKept) return loaded.page
  const page = loaded?.page ?? strangePage(word)
  if (page === null) throw new UsageError(`No article or page is known as "${word}".`)
  if (options.fetch) return fetchPage(config, page, signal)
  throw new UsageError(
    found === null
      ? 'The crawler does not know this page; --fetch asks the outlet for it.'
      : `The page is no longer stored (PAGES_KEEP); --fetch asks the outlet for it again.${
          loaded?.stated ? ` ${rightsInWords(loaded.stated.seen, loaded.stated.at)}` : ''
        }`,
  )
}

/**
 * Requests a page again from the outlet, by the crawler's own rules: only public addresses,
 * robots.txt first, a pause between two requests.
 *
 * @throws an error whose message says why there is no page
 */
async function fetchPage(
  config: Config,
  page: StoredPage,
  signal: AbortSignal,
): Promise<StoredPage> {
  const trial = openTrial(config, signal)
  try {
    const { answer, url } = await trial.get(new URL(page.url))
    const body = answer.status < 300 ? answer.body : null
    return {
      ...page,
      finalUrl: url.href,
      status: answer.status,
      body,
      fetchedAt: new Date(),
      contentType: answer.headers['content-type'] ?? null,
      rights: answer.rights,
    }
  } catch (error) {
    const reason = describe(error)
    throw new Error(`${page.url} cannot be fetched: ${reason}`, { cause: error })
  } finally {
    await trial.close()
  }
}

/** An explanation for people: a paragraph for each field. */
function explanationInWords(
  page: StoredPage,
  explanation: Explanation,
  stored: StoredArticle | null,
): string {
  const { outcome, interstitial, rights, boilerplate, agencies, stated, fields } = explanation
  const lines = [
    printableLine(page.url),
    ...(stored === null ? ['No article was made of it.'] : [`Article ${stored.id}.`]),
    ...(interstitial === null
      ? []
      : [`In the article's place, or behind its opening: ${interstitial}.`]),
    ...(rights.length === 0 ? [] : [rightsInWords(rights, page.fetchedAt)]),
  ]
  if (fields === null)
    return [...lines, printableLine(`Today it would make no article (${outcome})`)].join('\n')
  const left = boilerplate.map(
    text => `   left out, as many pages of the outlet hold it: ${line(text)}`,
  )
  const paragraphs = FIELDS.flatMap(field => [
    '',
    ...paragraph(field, fields[field], stored),
    ...(field === 'text' ? left : []),
  ])
  const said = Object.entries(stated).flatMap(([name, candidates]) => [
    '',
    `${name}: ${candidates.some(({ chosen }) => chosen) ? 'the outlet says it' : 'not said'}`,
    ...candidateRows(candidates),
  ])
  return [...lines, ...paragraphs, ...agenciesInWords(agencies), ...said].join('\n')
}

function rightsInWords(seen: Signal[], at: Date): string {
  const signals = seen.map(signalInWords).join(', ')
  return printableLine(`Rights that its outlet states: ${signals}; seen at ${at.toISOString()}.`)
}

/** @returns related articles, or why they are unknown; null: the article has no vector */
async function relatedTo(
  config: Config,
  pool: Pool,
  seq: bigint,
): Promise<ShownRelated[] | string | null> {
  const [subject] = await readSubjects(pool, [seq], EVERYTHING)
  const serving = (await readCollections(pool)).find(({ state }) => state === 'serving')
  if (subject === undefined || serving === undefined) return null
  const { same } = modelNamed(serving.model)
  const days = { countries: [...COUNTRIES], since: subject.at - AROUND, until: subject.at + AROUND }
  try {
    const vectors = openVectorStore(config, PATIENCE)
    const found = await vectors.around(serving.name, subject, days, AROUND_LIMIT, leastOf(same))
    if (found === null) return null
    const near = await ofTheirArticles(pool, found)
    const rows = await readSubjects(
      pool,
      near.map(one => one.seq),
      EVERYTHING,
    )
    const titleOf = (seq: bigint) =>
      readValue<string>(pool, 'select title from article_texts where seq = $1', [seq])
    const chosen = chooseRelated(subject, near, rows, same)
    return await Promise.all(
      chosen.map(async ({ seq, ...one }) => ({ ...one, title: (await titleOf(seq)) ?? '' })),
    )
  } catch (error) {
    if (error instanceof VectorFailure) return error.message
    throw error
  }
}

function relatedInWords(related: ShownRelated[] | string | null): string {
  if (related === null) return 'related: not known, as it has no vector.'
  if (typeof related === 'string') return `related: not known. ${printableLine(related)}`
  if (related.length === 0) return 'related: none.'
  const rows = related.map(({ id, title, language, days, similarity, threshold }) => [
    '   ',
    days > 0 ? `+${counted(days, 'day')}` : counted(days, 'day'),
    `${similarity.toFixed(3)} (shown from ${threshold ?? 'any'})`,
    language,
    printableLine(id),
    line(title),
  ])
  return ['related: on the same event, by meaning.', columns(rows)].join('\n')
}

/** An imported article. No page was read, so there were no candidates. */
function importedInWords(stored: StoredArticle): string {
  return [
    printableLine(stored.url),
    `Article ${printableLine(stored.id)}.`,
    'It was imported (npm run import), so its fields are those of the import, and no page was read.',
    ...FIELDS.flatMap(field => ['', `${field}: ${line(storedValue(field, stored) ?? 'none')}`]),
  ].join('\n')
}

/** The news agencies of an article, each with its evidence. */
function agenciesInWords(evidence: AgencyEvidence[]): string[] {
  const rows = evidence.map(({ agency, signal, words }) => ['   ', agency, signal, line(words)])
  return [
    '',
    `agencies: ${agenciesOf(evidence).join(', ') || 'none'}`,
    ...(rows.length === 0 ? [] : [columns(rows)]),
  ]
}

function paragraph(
  field: Field,
  { origin, value, why, candidates }: FieldExplanation,
  stored: StoredArticle | null,
) {
  const head = value === null ? 'none' : `${origin.source}, ${origin.sure}`
  return [
    `${field}: ${head}. ${why}`,
    ...candidateRows(candidates),
    ...storedNote(field, value, stored),
  ]
}

function candidateRows(candidates: FieldExplanation['candidates']): string[] {
  const rows = candidates.map(({ source, value, against, chosen }) => [
    chosen ? '  *' : '   ',
    source,
    line(value),
    against ?? '',
  ])
  return rows.length === 0 ? [] : [columns(rows)]
}

/** Whether the stored article differs. A visible article never changes (decision 24). */
function storedNote(field: Field, value: string | null, stored: StoredArticle | null): string[] {
  if (stored === null) return []
  const kept = storedValue(field, stored)
  const origin = stored.origins?.[field]
  const from = origin === undefined ? '' : ` (${origin.source}, ${origin.sure})`
  const isSame =
    value === kept || (field === 'text' && kept?.startsWith((value ?? '').replace(/…$/, '')))
  return isSame
    ? []
    : [`   stored: ${kept === null ? 'none' : line(kept)}${from}; visible articles do not change`]
}

function storedValue(
  field: Field,
  { title, date, authors, text, language }: StoredArticle,
): string | null {
  return { title, date, authors: authors.join(', ') || null, text, language }[field]
}

function line(text: string): string {
  const one = printableLine(text.replace(/\s+/g, ' '))
  return one.length <= WIDTH ? one : `${one.slice(0, WIDTH)}…`
}

/**
 * A page that the crawler does not know. It has no entry of a feed, and the name of its outlet is
 * its host. Null: the word is no address.
 */
function strangePage(word: string): StoredPage | null {
  const address = readAddress(word)
  if (address === null) return null
  const domain = address.hostname.replace(/^www\./, '')
  return {
    url: address.href,
    finalUrl: address.href,
    status: 200,
    contentType: null,
    rights: null,
    body: null,
    fetchedAt: new Date(),
    entry: null,
    outlet: {
      name: domain,
      domain,
      country: 'NL',
      languages: [],
      timeZone: 'Europe/Amsterdam',
    },
  }
}

/** A page of crawl memory, with the article that was made of it. */
interface FoundPage {
  /** null: the article was imported. */
  pageNo: bigint | null
  loaded: LoadedPage | null
  stored: StoredArticle | null
  /** The number of the article; null: there is none. */
  seq: bigint | null
}

/** An article as it is stored. */
interface StoredArticle {
  id: string
  url: string
  title: string
  date: string | null
  authors: string[]
  text: string | null
  language: string
  /** Null: the article was imported, or is older than the recording of origins. */
  origins: Origins | null
}

/** Finds a page by its number, its address, or the id or an address of its article. */
async function findPage(pool: Pool, word: string): Promise<FoundPage | null> {
  const number = /^page:(\d{1,18})$/.exec(word)?.[1]
  const known = number === undefined ? await pageAt(pool, word) : BigInt(number)
  const seqs =
    known === null
      ? (await findArticles(pool, [namedBy(word)])).found.map(({ seq }) => seq)
      : await readColumn<bigint>(pool, BY_PAGE, [known])
  const row = await readRow<Row>(pool, ARTICLE, [seqs])
  const pageNo = known ?? row?.pageNo ?? null
  const loaded = pageNo === null ? null : await loadPage(pool, pageNo, { finished: true })
  if (row === undefined) return loaded && { pageNo, loaded, stored: null, seq: null }
  const { pageNo: _, seq, ...article } = row
  const date = row.date?.toISOString() ?? null
  const stored = { ...article, date, origins: readOrigins(row.origins ?? '') }
  return { pageNo, loaded, stored, seq }
}

/** The number of the page at an address, in any spelling. Index: unique (outlet_no, crawl_key). */
function pageAt(pool: Pool, word: string): Promise<bigint | null> {
  return readValue(
    pool,
    `select p.page_no from outlets o, lateral (
       select page_no from pages where outlet_no = o.outlet_no and crawl_key = any ($1) offset 0) p
      order by 1 desc limit 1`,
    [keysOf(word)],
  )
}

interface Row extends Omit<StoredArticle, 'date' | 'origins'> {
  seq: bigint
  pageNo: bigint | null
  date: Date | null
  origins: string | null
}
