import { sortHashes } from '#search/analysis/index'
import type { Pace } from '#search/index'
import { COSTS } from '#services/api/access/costs'
import { findPage } from '#services/api/articles/articles'
import type { Asking, Searches } from '#services/api/articles/find'
import type { CursorSecret } from '#services/api/contract/cursor'
import { EXPLORE_PARAMETERS } from '#services/api/contract/parameters'
import { createQueryReader, readQueryString } from '#services/api/contract/query-string'
import { readSearch } from '#services/api/contract/request'
import {
  ARTICLE_SCHEMA,
  dataOf,
  objectOf,
  TEXT,
  textOrNull,
} from '#services/api/contract/resources'
import { type Answer, jsonAnswer } from '#services/api/http/answer'
import { copyWords, distinct, hasShingle, RUN, sharedOf, shinglesAt } from '#shared/copies/shingles'
import { COVERED, coveredBy, type Reach } from '#shared/plans/reach'
import type { Queryable } from '#shared/postgres/pool'
import { type Asked, findOne, RELATED_PARAMETERS } from './article-by-id.ts'

/*
 * Groups of copies are found beforehand (`shared/copies`). A request only reads the groups of its
 * articles. It compares the texts of a group, to count the words that only one article has.
 */

const { required: _required, ...id } = RELATED_PARAMETERS.id

export const COPIES_PARAMETERS = {
  id: { ...id, about: 'Of one article, in place of a page. Without any other parameter.' },
  ...EXPLORE_PARAMETERS,
}

/** The most copies of an article that are shown. */
const MOST = 100
/**
 * The most bytes that all texts of the groups of a page may have together. Groups after that are
 * shown without what a comparison would tell.
 */
const COMPARED = 2_000_000

/** The answer, as JSON Schema (2020-12). */
export const COPIES_SCHEMA = dataOf({
  type: 'array',
  maxItems: 100,
  description: 'The articles of the page, in their order.',
  items: objectOf({
    id: TEXT,
    first: textOrNull(
      'The article of the group that was ingested first, of those that your plan has. null: nothing is said of the article, because it is too short, or has no time, or is reserved, or is very new.',
    ),
    agencies: {
      type: 'array',
      items: TEXT,
      description:
        'News agencies that the article, or one of `copies`, names as its source. Empty: none says so.',
    },
    copies: {
      type: ['array', 'null'],
      maxItems: MOST,
      description: `The others of the group that your plan has, in order of ingestion; the first ${MOST}.`,
      items: objectOf({
        article: ARTICLE_SCHEMA,
        shared: {
          type: ['number', 'null'],
          minimum: 0,
          maximum: 1,
          description:
            'Runs of five words that it shares with the first article (the first one: with this article), of those of the shorter text; to four decimals. Below 0.6 only where your plan lacks the earliest of the group. null: not compared, because the texts of the page have more than 2 MB up to this group.',
        },
      }),
    },
    own_words: {
      type: ['integer', 'null'],
      minimum: 0,
      description:
        'Words of its text in no run of five words that one of `copies` has, too. null: there are no copies, or the texts were not compared.',
    },
  }),
})

/**
 * `GET /explore/copies`: which other articles share most of the text. It answers for each article
 * of a page of `/explore/articles`, or for one article.
 *
 * @param asking has the parameters of the page with its cursor, or `id` alone
 * @throws ApiError
 */
export async function answerCopies(asking: Asking, cursorSecret: CursorSecret): Promise<Answer> {
  const { searches, rawQuery, plan } = asking
  const id = readId(rawQuery)
  const page = id === null ? await findPage(asking, cursorSecret, readSearch) : null
  const covered = page === null ? coveredBy(plan) : { countries: plan.countries, since: page.start }
  const data = await searches.withPermit(async pace => {
    const asked = page?.found.rows ?? [await findOne(searches.db, id ?? '', covered)]
    return copiesOf(searches, asked, covered, pace)
  })
  return jsonAnswer(
    `{"status":"ok","data":[${data.join()}]}`,
    page?.request.question.search,
    page?.found.ms,
  )
}

const readOne = createQueryReader(
  RELATED_PARAMETERS,
  new Map(
    Object.keys(EXPLORE_PARAMETERS).map(name => [
      name,
      'Leave it out with id, which names one article.',
    ]),
  ),
)

/** @returns null: the request asks for a page */
const readId = (rawQuery: string): string | null =>
  readQueryString(rawQuery).some(({ name }) => name === 'id') ? readOne(rawQuery).id : null

// $1 seqs, $2 countries, $3 history start, $4 most members of a group.
// Indexes: the primary keys, copy_sketches_group.
const GROUPS = `
  select seq, id, first_seq as first, agencies, bytes from (
    select a.seq, a.id, s.first_seq, t.agencies, octet_length(t.body) as bytes, row_number() over (partition by s.first_seq order by a.seq) as place
      from copy_sketches s join articles a using (seq) join article_texts t using (seq)
     where s.first_seq in (select first_seq from copy_sketches where seq = any ($1::bigint[])) and ${COVERED}) m
   where place <= $4 or seq = any ($1::bigint[]) order by seq`

type Member = Asked & { first: bigint; agencies: string[] | null; bytes: number | null }

/** The elements of the answer, as JSON. */
async function copiesOf(
  { db, index, pay }: Pick<Searches, 'db' | 'index' | 'pay'>,
  asked: readonly Asked[],
  { countries, since }: Reach,
  pace: Pace,
): Promise<string[]> {
  const seqs = asked.map(({ seq }) => seq)
  const found = await db.query<Member>(GROUPS, [seqs, countries, since, MOST + 1])
  const shown = new Map(
    (await index.articles(found.rows.map(({ seq }) => seq))).map(one => [
      one.seq,
      one.pieces.json.bytes,
    ]),
  )
  // An article may have been taken out since.
  const rows = found.rows.filter(({ seq }) => shown.has(seq))
  const answers = new Map<bigint, string>()
  const groups = groupsOf(seqs, rows)
  await pay(groups.reduce((sum, one) => sum + (one.isCompared ? one.bytes : 0), 0) / COSTS.bytes)
  for (const { members, isCompared } of groups) {
    const texts = await readTexts(db, isCompared ? members : [], pace)
    const common = await commonOf(members.slice(0, MOST + 1), texts, pace)
    const [first] = members
    const article = (seq: bigint) => shown.get(seq)!.toString()
    const shared = (a: bigint, b: bigint) => {
      const one = texts.get(a)
      const other = texts.get(b)
      return one && other ? Math.round(sharedOf(one.set, other.set) * 1e4) / 1e4 : null
    }
    for (const { seq, id } of members.filter(one => seqs.includes(one.seq))) {
      if (pace.isDue()) await pace.rest()
      const others = members.filter(one => one.seq !== seq).slice(0, MOST)
      const copies = others.map(
        one =>
          `{"article":${article(one.seq)},"shared":${shared(first!.seq, one === first ? seq : one.seq)}}`,
      )
      const text = texts.get(seq)
      const own = text === undefined ? null : await ownWords(text, common, pace)
      const agencies = new Set(
        members
          .filter(one => one.seq === seq || others.includes(one))
          .flatMap(one => one.agencies ?? []),
      )
      const head = JSON.stringify({ id, first: first!.id, agencies: [...agencies] }).slice(0, -1)
      answers.set(seq, `${head},"copies":[${copies.join()}],"own_words":${own}}`)
    }
  }
  const alone = new Map(
    (
      await db.query<{ seq: bigint; agencies: string[] }>(ALONE, [
        seqs.filter(seq => !answers.has(seq)),
      ])
    ).rows.map(one => [one.seq, one.agencies]),
  )
  return asked.map(({ seq, id }) => {
    const said = { id, first: null, agencies: alone.get(seq) ?? [], copies: null, own_words: null }
    return answers.get(seq) ?? JSON.stringify(said)
  })
}

// $1 seqs. Articles whose rights forbid text mining are left out. Indexes: the primary keys.
const ALONE = `
  select seq, agencies from article_texts join articles using (seq) left join article_rights r using (id)
   where seq = any ($1::bigint[]) and agencies is not null and r.vector is not false`

/**
 * A text of a group: its number of words, the shingle at each word, and the set of its shingles.
 */
interface Text {
  words: number
  at: Float64Array
  set: Float64Array
}

async function readTexts(db: Queryable, members: Asked[], pace: Pace): Promise<Map<bigint, Text>> {
  const { rows } = await db.query<{ seq: bigint; body: string | null }>(
    'select seq, body from article_texts where seq = any ($1::bigint[])',
    [members.map(({ seq }) => seq)],
  )
  const texts = new Map<bigint, Text>()
  for (const { seq, body } of rows) {
    if (pace.isDue()) await pace.rest()
    const words = copyWords(body ?? '')
    const at = shinglesAt(words)
    texts.set(seq, { words: words.length, at, set: distinct(at.slice()) })
  }
  return texts
}

/** A group of copies. Its texts are compared unless the page has too many bytes of text before. */
interface Group {
  members: Member[]
  bytes: number
  isCompared: boolean
}

/** The groups of the articles of a page, in its order. */
function groupsOf(seqs: readonly bigint[], rows: Member[]): Group[] {
  const byFirst = Map.groupBy(rows, ({ first }) => first)
  const firstOf = new Map(rows.map(({ seq, first }) => [seq, first]))
  let before = 0
  return [...new Set(seqs.map(seq => firstOf.get(seq)))].flatMap(first => {
    const members = first === undefined ? undefined : byFirst.get(first)
    if (members === undefined) return []
    const bytes = members.reduce((sum, one) => sum + (one.bytes ?? 0), 0)
    before += bytes
    return [{ members, bytes, isCompared: before <= COMPARED }]
  })
}

/** The shingles that two or more of the texts have, ascending. */
async function commonOf(
  members: readonly Member[],
  texts: ReadonlyMap<bigint, Text>,
  pace: Pace,
): Promise<Float64Array> {
  const sets = members.flatMap(({ seq }) => texts.get(seq)?.set ?? [])
  const all = new Float64Array(sets.reduce((sum, set) => sum + set.length, 0))
  let end = 0
  for (const set of sets) {
    all.set(set, end)
    end += set.length
  }
  if (pace.isDue()) await pace.rest()
  sortHashes(all)
  return all.filter((shingle, at) => shingle === all[at + 1])
}

/** Counts the words that stand in no shingle of another text. */
async function ownWords({ words, at }: Text, common: Float64Array, pace: Pace): Promise<number> {
  let own = words
  let counted = 0 // words before this place are counted already
  for (const [start, shingle] of at.entries()) {
    if (start % 64 === 0 && pace.isDue()) await pace.rest()
    if (!hasShingle(common, shingle)) continue
    own -= start + RUN - Math.max(start, counted)
    counted = start + RUN
  }
  return own
}
