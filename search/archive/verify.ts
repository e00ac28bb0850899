import { wordsOf } from '../analysis/index.ts'
import type { Pool, Queryable } from '../postgres.ts'
import { readLastRemoval } from '../store/tombstones.ts'
import { TERMS } from '../terms.ts'
import type { Country, Language } from '../vocabulary.ts'
import { readAnswer } from './answers.ts'
import { type ArchiveClient, type ArchiveSettings, openArchiveClient } from './client.ts'
import { ANALYSIS } from './documents.ts'
import { among } from './send.ts'
import { type ArchiveIndex, readArchiveMeta } from './state.ts'

/*
 * Verifies the archive index. It asks OpenSearch random questions about ranges of articles, and
 * answers them from the words and rows in Postgres, without an index. OpenSearch answers each
 * version anew: once it has counted ranges wrongly after a minor version (OpenSearch#15169).
 */

/** The articles of a range. One read of Postgres answers several questions. */
const RANGE = 4_096
const QUESTIONS_EACH = 10

export interface ArchiveCheck {
  pool: Pool
  settings: ArchiveSettings
  /** How many questions each index is asked. */
  questions: number
  /** Returns a random number from 0 to below 1. */
  random(): number
  found(text: string): void
  signal: AbortSignal
}

/** @throws ArchiveFailure when OpenSearch does not answer */
export async function verifyArchive(check: ArchiveCheck): Promise<void> {
  const { pool, settings, questions, signal } = check
  const client = openArchiveClient(settings)
  try {
    const { indices } = await readArchiveMeta(pool)
    for (const index of indices) {
      for (let asked = 0; asked < questions && !signal.aborted; asked += QUESTIONS_EACH)
        await askRange(check, client, index, Math.min(QUESTIONS_EACH, questions - asked))
    }
  } finally {
    await client.close()
  }
}

interface Article {
  seq: number
  published: number | null
  ingested: number | null
  country: Country
  language: Language
  hasAuthor: boolean
  title: string
  body: string
}

const ms = (column: string) => `floor(extract(epoch from ${column}) * 1000)::float8`

// $1 first, $2 last. Articles that an operator took out have no words. Indexes: the primary keys.
const ARTICLES = `
  select seq::float8 as seq, ${ms('published_at')} as published, ${ms('ingested_at')} as ingested, country, language,
         author_nos <> '{}' as "hasAuthor", w.title, w.body
    from articles join article_words w using (seq) where seq between $1 and $2 order by seq`

/** A question in OpenSearch's form, and whether an article is in its answer. */
interface ArchiveQuestion {
  text: string
  clause: object
  holds(article: Article): boolean
}

async function askRange(
  check: ArchiveCheck,
  client: ArchiveClient,
  index: ArchiveIndex,
  count: number,
): Promise<void> {
  const { pool, random, found } = check
  const before = await readLastRemoval(pool)
  const { removed } = await readArchiveMeta(pool)
  const size = Number(index.last - index.first) + 1
  const first = Number(index.first) + Math.floor(random() * Math.max(1, size - RANGE + 1))
  const last = Math.min(Number(index.last), first + RANGE - 1)
  const { rows } = await pool.query<Article>(ARTICLES, [first, last])
  if (rows.length === 0) return
  for (let at = 0; at < count; at++) {
    const question = drawQuestion(rows, random)
    const wanted = rows.filter(question.holds)
    const buckets = bucketsOf(rows, random)
    const range = {
      filter: [{ range: { seq: { gte: first, lte: last } } }, question.clause],
      must_not: among(removed.filter(seq => seq >= first && seq <= last)),
    }
    const fault = await compare(client, index, range, wanted, buckets).catch(async error => {
      if (await isServing(pool, index)) throw error
      return null // The index was replaced meanwhile.
    })
    // An article that was taken out meanwhile may be in one of the two.
    const isSure = fault === null || (await readLastRemoval(pool)) === before
    const what = `${index.name}, articles ${first} to ${last}, ${question.text}`
    if (fault !== null && isSure && (await isServing(pool, index))) found(`${what}: ${fault}`)
  }
}

const SERVING = `select from archive_indices where name = $1 and state = 'serving' and analysis = $2`
const isServing = async (db: Queryable, { name }: ArchiveIndex): Promise<boolean> =>
  (await db.query(SERVING, [name, ANALYSIS])).rowCount === 1

/** @returns what differs; null: nothing */
async function compare(
  client: ArchiveClient,
  index: ArchiveIndex,
  range: { filter: object[]; must_not: object[] },
  wanted: Article[],
  buckets: { from: number; to: number }[],
): Promise<string | null> {
  const body = {
    size: RANGE,
    track_total_hits: true,
    sort: [{ seq: 'asc' }],
    stored_fields: '_none_',
    docvalue_fields: ['seq'],
    query: { bool: range },
    aggs: { times: { range: { field: 'published', ranges: buckets } } },
  }
  const path = `/${index.name}/_search?allow_partial_search_results=false`
  const answer = await client.send({ method: 'POST', path, body: JSON.stringify(body) })
  const { hits, total, counts } = readAnswer(answer, false)
  const seqs = hits.map(({ seq }) => Number(seq))
  const own = wanted.map(({ seq }) => seq)
  // Both are in ascending order.
  const other = Array.from({ length: Math.max(seqs.length, own.length) }, (_, at) => at).find(
    at => seqs[at] !== own[at],
  )
  if (other !== undefined) {
    const article = Math.min(seqs[other] ?? Infinity, own[other] ?? Infinity)
    return `${total} articles are found, and ${own.length} match; article ${article} differs`
  }
  if (total !== wanted.length) return `${total} are counted, and ${wanted.length} match`
  const counted = buckets.map(
    ({ from, to }) =>
      wanted.filter(({ published }) => published !== null && published >= from && published < to)
        .length,
  )
  const said = counts('times')
  return `${said}` === `${counted}` ? null : `by time ${said} are counted, and ${counted} match`
}

/** Draws four ranges of time that follow one another. */
function bucketsOf(rows: Article[], random: () => number): { from: number; to: number }[] {
  const known = rows.flatMap(({ published }) => published ?? [])
  if (known.length === 0) return [{ from: 0, to: 1 }]
  const times = Array.from({ length: 5 }, () => pick(known, random))
  const bounds = [...new Set(times)].sort((a, b) => a - b)
  const [only = 0] = bounds
  if (bounds.length === 1) return [{ from: only, to: only + 1 }]
  return bounds.slice(1).map((to, at) => ({ from: bounds[at]!, to }))
}

const pick = <T>(list: readonly T[], random: () => number): T =>
  list[Math.floor(random() * list.length)]!

/** Draws a question that at least one article of the rows answers. */
function drawQuestion(rows: Article[], random: () => number): ArchiveQuestion {
  const kinds = [word, phrase, word, phrase, time, filters]
  const one = pick(kinds, random)(pick(rows, random), random)
  if (random() < 0.5) return one
  const other = pick([time, filters], random)(pick(rows, random), random)
  return {
    text: `${one.text}, ${other.text}`,
    clause: { bool: { filter: [one.clause, other.clause] } },
    holds: article => one.holds(article) && other.holds(article),
  }
}

type Draw = (article: Article, random: () => number) => ArchiveQuestion

const word: Draw = ({ title, body }, random) => {
  const drawn = pick([...wordsOf(title), ...wordsOf(body), ''], random)
  if (drawn === '') return EVERYTHING
  const list = `\n${drawn}\n`
  return {
    text: `the word ${JSON.stringify(drawn)}`,
    clause: { term: { terms: TERMS.word(drawn) } },
    holds: article => article.title.includes(list) || article.body.includes(list),
  }
}

const phrase: Draw = (article, random) => {
  const field = random() < 0.3 ? 'title' : 'body'
  const all = wordsOf(article[field])
  const from = Math.floor(random() * all.length)
  const drawn = all.slice(from, from + 2 + Math.floor(random() * 3))
  if (drawn.length === 0) return EVERYTHING
  const list = `\n${drawn.join('\n')}\n`
  return {
    text: `the phrase ${JSON.stringify(drawn.join(' '))}`,
    clause: { match_phrase: { [field]: drawn.map(TERMS.word).join(' ') } },
    holds: other => other[field].includes(list),
  }
}

const time: Draw = (article, random) => {
  const axis = random() < 0.5 ? 'published' : 'ingested'
  const from = article[axis]
  if (from === null) return EVERYTHING
  const to = from + Math.floor(random() ** 4 * 400 * 86_400_000)
  return {
    text: `${axis} from ${from} to ${to}`,
    clause: { range: { [axis]: { gte: from, lte: to } } },
    holds: other => other[axis] !== null && other[axis] >= from && other[axis] <= to,
  }
}

const filters: Draw = ({ country, language, hasAuthor }) => ({
  text: `in ${language} from ${country}, ${hasAuthor ? 'with' : 'without'} an author`,
  clause: {
    bool: {
      filter: [TERMS.country(country), TERMS.language(language), TERMS.hasAuthor(hasAuthor)].map(
        term => ({ term: { terms: term } }),
      ),
    },
  },
  holds: other =>
    other.country === country && other.language === language && other.hasAuthor === hasAuthor,
})

const EVERYTHING: ArchiveQuestion = { text: 'all', clause: { match_all: {} }, holds: () => true }
