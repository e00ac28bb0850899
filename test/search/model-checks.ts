import type { SearchIndex } from '#search/index'
import { prepareText } from '#search/indexing/new-article'
import type { NewArticle, Position, Tokeniser } from '#search/types'
import { verifyIndex } from '#search/verify'
import type { CopyGroups } from '#shared/copies/pass'
import type { Pool } from '#shared/postgres/pool'
import { clearRemoved } from '#shared/removals/remove'
import { createRandom } from '#test/faults/random'
import { difference, queryOf } from './comparison.ts'
import { naiveStars } from './copy-histories.ts'
import { articleOf, type Ended, isWriter, keyOf, MOVING } from './histories.ts'
import { readKnown } from './known.ts'
import { answer, type Known, type Question } from './oracle.ts'
import { EVERYTHING, type Follower } from './poller.ts'
import { randomQuestion } from './questions.ts'
import { openTestIndex } from './store.ts'

/* Where the index lies after a step of a history: what it must say by a naive model. */

function hold(condition: boolean, complaint: string): void {
  if (!condition) throw new Error(complaint)
}

/** What is checked, with what the model remembers. */
interface World {
  pool: Pool
  index: SearchIndex
  follower: Follower
  groups: CopyGroups
  /** Articles that were there after the step before. */
  before: Known[]
  /** Ids of articles that have neither snippet nor vector. */
  bounded: Set<string>
  /** The keys of articles that were to be taken out, by id. */
  doomed: Map<string, number>
  /** Who was killed, or has lost an answer, may have left a segment that nobody uses. */
  hasDead: boolean
  /** Articles for which a key stands. */
  scale: number
}

export interface Page {
  ids: string[]
  next: Position | null
  known: Known[]
}

const FROZEN = { ...EVERYTHING, q: null, search: 'keyword', perPage: 5 } as const

/** The first page of a sequence that is read on after the step. */
export async function frozenPage({ index, before }: World): Promise<Page> {
  const { rows, next } = await index.search(queryOf(FROZEN)!)
  return { ids: rows.map(({ id }) => id), next, known: before }
}

/** Holds the index to what the model knows. */
export async function check(world: World, ended: Ended[], page: Page): Promise<void> {
  const { pool, index, follower } = world
  const known = await readKnown(pool, 0n)
  const removed = await readRemoved(world, known, ended)
  checkArticles(known)
  checkCounts(world.before, known, ended, removed)
  await checkNumbers(world, [...known, ...removed.tombstones])
  await checkPages(pool, removed.keys)
  await checkCopies(world, known)
  const isLeft = (id: string) => !removed.ids.has(id)
  const left = answer(page.known, FROZEN)!.ids.filter(isLeft)
  page.ids = page.ids.filter(isLeft)
  for (let { next } = page; next !== null; ) {
    const following = await index.search(queryOf(FROZEN)!, next)
    hold(following.total === left.length, `${following.total} of ${left.length} are counted`)
    page.ids.push(...following.rows.map(({ id }) => id))
    next = following.next
  }
  hold(page.ids.join() === left.join(), 'a sequence changed while it was read')
  await follower.poll()
  const missed = known.filter(
    one => articleOf(keyOf(one)).ingestedAt === undefined && !follower.seen.has(one.id),
  )
  hold(missed.length === 0, `the follower missed ${missed.map(({ seq }) => seq)}`)
  hold(follower.disorder.length === 0, follower.disorder.join())
  for (const id of ended.flatMap(({ bounded }) => bounded ?? [])) world.bounded.add(id)
  if (removed.ids.size > 0) await checkAnswers(index, known, world.scale)
  hold((await clearRemoved(pool, [], NEVER)) === 0, 'a removal is not cleared')
  await verify(pool)
  const fresh = openTestIndex(pool)
  try {
    for (const one of [index, fresh]) {
      await checkAnswers(one, known, world.scale)
      const shown = await one.articles(known.map(({ seq }) => seq))
      const withdrawn = shown.filter(
        ({ id, snippet }) => world.bounded.has(id) && (snippet ?? '') !== '',
      )
      hold(
        withdrawn.length === 0,
        `withdrawn snippets are shown: ${withdrawn.map(({ seq }) => seq)}`,
      )
    }
  } finally {
    await fresh.close()
  }
  world.before = known
}

/** Cuts texts into words. */
export const tokenise: Tokeniser['tokenise'] = async texts =>
  texts.map(text => prepareText(text).words)

/** What `npm run verify` says of a sound index: nothing. */
async function verify(pool: Pool): Promise<void> {
  const faults: string[] = []
  const { signal } = new AbortController()
  const found = (kind: string, text: string) => faults.push(`${kind}: ${text}`)
  await verifyIndex({ pool, tokenise, found, signal, sample: null, progress() {} })
  hold(faults.length === 0, faults.join('; '))
}

const NEVER = new AbortController().signal

interface Removed {
  tombstones: { number: bigint; seq: bigint; id: string }[]
  ids: ReadonlySet<string>
  keys: ReadonlySet<number>
}

/** What was taken out stays out, has numbers without gaps, and is not there again. */
async function readRemoved(
  { pool, doomed, before }: World,
  known: Known[],
  ended: Ended[],
): Promise<Removed> {
  for (const one of [...before, ...known]) doomed.set(one.id, keyOf(one))
  for (const { id, key } of ended.flatMap(one => one.doomed ?? [])) doomed.set(id, key)
  const { rows: tombstones } = await pool.query<Removed['tombstones'][number]>(
    'select number, seq, id from tombstones order by number',
  )
  const areInOrder = tombstones.every(({ number }, at) => number === BigInt(at) + 1n)
  hold(areInOrder, `removals have gaps: ${tombstones.map(({ number }) => number)}`)
  const ids = new Set(tombstones.map(({ id }) => id))
  const keys = new Set(tombstones.map(({ id }) => doomed.get(id) ?? -1))
  const done = ended.filter(({ isDone }) => isDone).flatMap(one => one.doomed ?? [])
  const spared = done.filter(({ id }) => !ids.has(id))
  hold(spared.length === 0, `not taken out: ${spared.map(({ key }) => `woord${key}`)}`)
  const back = known.filter(one => ids.has(one.id) || keys.has(keyOf(one)))
  hold(back.length === 0, `taken out, and there: ${back.map(one => `woord${keyOf(one)}`)}`)
  return { tombstones, ids, keys }
}

/** Each article is there once, and as it was given. */
function checkArticles(known: Known[]): void {
  const told = (article: NewArticle) => {
    const { title, body, publishedAt, authors, language, country } = article
    const outlet = { ...article.outlet }
    if (outlet.domain === MOVING.to) outlet.domain = MOVING.from
    return JSON.stringify({ title, body, publishedAt, authors, outlet, language, country })
  }
  for (const article of known) {
    const given = articleOf(keyOf(article))
    hold(
      told(article) === told({ ...given, authors: [...new Set(given.authors)] }),
      `${told(article)} is not as given`,
    )
    const own = given.ingestedAt
    const isOwn =
      own === undefined
        ? article.ingestedAt !== null
        : article.ingestedAt?.getTime() === own?.getTime()
    hold(isOwn, `article ${article.seq} came at ${article.ingestedAt?.toISOString()}`)
  }
  hold(new Set(known.map(keyOf)).size === known.length, 'an article is there twice')
  hold(new Set(known.map(({ id }) => id)).size === known.length, 'an id is there twice')
}

/** What writers told is true, and nothing is lost. */
function checkCounts(before: Known[], known: Known[], ended: Ended[], removed: Removed): void {
  const were = new Set(before.map(keyOf))
  const are = new Set(known.map(keyOf))
  const keysOf = (some: Ended[]) => some.flatMap(({ actor }) => (isWriter(actor) ? actor.keys : []))
  const lost = [...were, ...keysOf(ended.filter(({ isDone }) => isDone))].filter(
    key => !are.has(key) && !removed.keys.has(key),
  )
  hold(lost.length === 0, `articles are lost: ${[...new Set(lost)].map(key => `woord${key}`)}`)
  const fresh = [...are].filter(key => !were.has(key))
  const given = new Set(keysOf(ended))
  const areGiven = fresh.every(key => given.has(key))
  hold(areGiven, 'there is an article that nobody gave')
  let counted = 0
  for (const { actor, told } of ended) {
    if (told === null) continue
    counted += told.indexed
    const isWhole = told.indexed + told.known + told.removed === actor.keys.length
    hold(isWhole, `an import of ${actor.keys.length} told ${JSON.stringify(told)}`)
  }
  const untold = new Set(keysOf(ended.filter(({ told }) => told === null)))
  const least = fresh.filter(key => !untold.has(key)).length
  // An article that was written and taken out in this step is not among the fresh ones.
  const isTrue = least <= counted && counted <= fresh.length + removed.keys.size
  hold(isTrue, `imports told ${counted} new articles of ${least} to ${fresh.length}`)
}

/** Numbers have no gaps, segments neither, and none ends above the clock. */
async function checkNumbers({ pool, hasDead }: World, all: Pick<Known, 'seq'>[]): Promise<void> {
  const known = all.toSorted((a, b) => Number(a.seq - b.seq))
  const areInOrder = known.every(({ seq }, at) => seq === BigInt(at) + 1n)
  hold(areInOrder, `numbers have gaps: ${known.map(({ seq }) => seq)}`)
  const { rows: clocks } = await pool.query<{ last: bigint }>(
    'select last_seq as last from ingest_clock',
  )
  hold(
    clocks[0]!.last === BigInt(known.length),
    `the clock is at ${clocks[0]!.last}, of ${known.length} articles`,
  )
  const { rows } = await pool.query<{ first: bigint; last: bigint }>(
    'select first_seq as first, last_seq as last from segments order by first_seq',
  )
  const whole = rows.every(
    ({ first, last }, at) => first === (rows[at - 1]?.last ?? 0n) + 1n && last <= known.length,
  )
  hold(
    whole,
    `of ${known.length} articles the segments are ${rows.map(({ first, last }) => `${first}–${last}`)}`,
  )
  const { rowCount } = await pool.query("select from segments_ahead where kind = 'import'")
  hold(hasDead || rowCount === 0, `${rowCount} segments of imports are left`)
}

const PAGES = `
  select (select count(*)::int from pages p where state = 'done' and not exists (select from article_texts t where t.url = p.url) and url <> all ($1)) as alone,
         (select count(distinct url)::int from pages where origins is not null) as first,
         (select coalesce(sum(articles) / 5, 0)::int from outlet_origins) as counted,
         (select coalesce(sum(pages), 0)::int from served_texts) as served`

/** A page is done with its article, and each article of a page counts once. */
async function checkPages(pool: Pool, removed: ReadonlySet<number>): Promise<void> {
  const { rows } = await pool.query<Record<'alone' | 'first' | 'counted' | 'served', number>>(
    PAGES,
    [[...removed].map(key => articleOf(key).url)],
  )
  const { alone, first, counted, served } = rows[0]!
  const isWhole = counted >= first && counted <= first + removed.size && served === counted
  hold(alone === 0 && isWhole, `pages: ${JSON.stringify(rows[0])}`)
}

const GROUPS = `
  select s.first_seq::int - 1 as first, exists (select from article_rights r where r.id = a.id and not r.vector) as gone
    from articles a left join copy_sketches s using (seq) order by seq`

/** Groups of copies are the stars of the definition. */
async function checkCopies({ pool, groups }: World, known: Known[]): Promise<void> {
  await groups.pass(new AbortController().signal)
  const { rows } = await pool.query<{ first: number | null; gone: boolean }>(GROUPS)
  const stories = rows.map(() => ({
    at: null as number | null,
    outlet: '',
    body: null as string | null,
  }))
  for (const { seq, publishedAt, ingestedAt, outlet, body } of known)
    stories[Number(seq) - 1] = {
      at: (publishedAt ?? ingestedAt)?.getTime() ?? null,
      outlet: outlet.domain === MOVING.to ? MOVING.from : (outlet.domain ?? outlet.name ?? ''),
      body,
    }
  const stars = naiveStars(
    stories,
    new Set(rows.flatMap(({ gone }, at) => (gone ? at : []))),
  ).join()
  const are = rows.map(({ first }) => first).join()
  hold(are === stars, `groups of copies are ${are}, not ${stars}`)
}

const ALL_SIZES = { cap: 10_000, memory: { segment: 8n, words: 500 }, first: 100, prefetch: 100 }

async function checkAnswers(index: SearchIndex, known: Known[], scale: number): Promise<void> {
  const list: Question = { ...FROZEN, perPage: 7 }
  const random = createRandom(known.length)
  const questions = [
    list,
    { ...list, sort: 'ingested_at', order: 'asc' } satisfies Question,
    ...known.filter((_, at) => at % scale === 0).map(one => ({ ...list, q: `woord${keyOf(one)}` })),
    ...(known.length === 0 ? [] : Array.from({ length: 12 }, () => randomQuestion(random, known))),
  ]
  for (const question of questions) {
    const differs = await difference(index, known, question, ALL_SIZES)
    hold(differs === null, `${differs}: ${question.q} ${JSON.stringify(question)}`)
    const query = queryOf(question)
    if (query === null) continue
    const count = await index.count(query)
    hold(count === answer(known, question)!.ids.length, `${count} counted: ${question.q}`)
  }
}
