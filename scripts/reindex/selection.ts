import { LANGUAGES, type Language } from '../../shared/articles/article.ts'
import type { Queryable } from '../../shared/postgres/pool.ts'
import { UsageError } from '../../shared/process/command.ts'
import { readInstant } from '../archive/article.ts'

/** The articles to reindex, and their part to rebuild. A field that is null selects all. */
export interface Selection {
  what: 'words' | 'vectors' | 'snippets'
  outlet: string | null
  language: Language | null
  /** Published then or later. */
  from: Date | null
  /** Published before. */
  to: Date | null
}

/** @throws UsageError with what to type instead */
export function selectionOf(options: Record<string, string | boolean | string[] | undefined>): Selection {
  const text = (name: string) => {
    const value = options[name]
    return typeof value === 'string' ? value : null
  }
  const from = instantOf('--from', text('from'))
  const to = instantOf('--to', text('to'))
  if (from !== null && to !== null && from >= to) throw new UsageError('--from must lie before --to.')
  return {
    what: options.vectors === true ? 'vectors' : options.snippets === true ? 'snippets' : 'words',
    outlet: text('outlet')?.toLowerCase() ?? null,
    language: languageOf(text('language')),
    from,
    to,
  }
}

function languageOf(text: string | null): Language | null {
  if (text === null) return null
  const language = LANGUAGES.find(one => one === text.toLowerCase())
  if (language === undefined) throw new UsageError(`--language is one of ${LANGUAGES.join(', ')}.`)
  return language
}

function instantOf(name: string, text: string | null): Date | null {
  if (text === null) return null
  const instant = readInstant(text)
  if (instant === null) throw new UsageError(`${name} is a date or time, as 2026-11-01 or 2026-11-01T08:00:00Z.`)
  return instant
}

/** A selection whose outlet has been looked up. */
export interface Chosen {
  selection: Selection
  publisherNos: number[] | null
}

/** @throws UsageError when no article is of that outlet */
export async function lookUpOutlet(db: Queryable, selection: Selection): Promise<Chosen> {
  if (selection.outlet === null) return { selection, publisherNos: null }
  const { rows } = await db.query<{ publisher_no: number }>('select publisher_no from publishers where domain = $1', [
    selection.outlet,
  ])
  if (rows.length === 0) throw new UsageError(`No article is of an outlet with the domain ${selection.outlet}.`)
  return { selection, publisherNos: rows.map(row => row.publisher_no) }
}

/** The numbers of the chosen articles after `after` up to `last`, ascending, at most `limit`. */
export async function chosenSeqs(
  db: Queryable,
  { selection, publisherNos }: Chosen,
  after: bigint,
  last: bigint,
  limit: number,
): Promise<bigint[]> {
  const { language, from, to } = selection
  const { rows } = await db.query<{ seq: bigint }>(CHOSEN, [after, last, publisherNos, language, from, to, limit])
  return rows.map(row => row.seq)
}

/** How many articles are chosen after `after` up to `last`. */
export async function countChosen(
  db: Queryable,
  { selection, publisherNos }: Chosen,
  after: bigint,
  last: bigint,
): Promise<number> {
  const { language, from, to } = selection
  const { rows } = await db.query<{ count: number }>(`select count(*)::int as count from (${CHOSEN}) as chosen`, [
    after,
    last,
    publisherNos,
    language,
    from,
    to,
    null,
  ])
  return rows[0]!.count
}

// $1 after, $2 last, $3 outlets, $4 language, $5 $6 published from and before, $7 limit. Index: the
// primary key.
const CHOSEN = `
  select seq from articles
  where seq > $1::bigint and seq <= $2::bigint
    and ($3::int[] is null or publisher_no = any ($3::int[]))
    and ($4::text is null or language = $4::text)
    and ($5::timestamptz is null or published_at >= $5::timestamptz)
    and ($6::timestamptz is null or published_at < $6::timestamptz)
  order by seq limit $7::bigint`
