import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import { openIndex, SEARCH_SETTINGS } from '#search/index'
import { makeSegments } from '#search/indexer'
import type { ArticleRow } from '#search/types'
import {
  type SemanticPosition,
  type SemanticSearch,
  SetExpired,
} from '#services/api/semantic/query'
import { openSemanticSearch } from '#services/api/semantic/search'
import { readEmbeddable } from '#services/embedder/articles'
import { openEmbeddingCollections } from '#services/embedder/collections'
import { storeEverywhere } from '#services/embedder/store'
import { createLogger } from '#shared/log/logger'
import { createPool } from '#shared/postgres/pool'
import { createWriter } from '#shared/removals/bounding'
import { clearRemoved, removeArticles } from '#shared/removals/remove'
import { openStores } from '#shared/removals/stores'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { PATIENT } from '#test/database'
import { openDoor } from '#test/standbys/door'
import { createWorld, query, type World } from './world.ts'

/*
 * Random histories of candidate sets: two processes ask and read on, while articles come, are taken
 * out, cleared and bounded, segments are made, and time passes. A page must be what a naive reading
 * of its set gives, and a set must be what was there when it was made.
 */

interface Actor {
  /** `ask`: the first page of a question; `read`: the next page of a sequence. */
  kind: 'ask' | 'read' | 'write' | 'remove' | 'clear' | 'bound' | 'flush'
  /** Which question, sequence or article. */
  which: number
  perPage: number
  /** Which of the two processes. */
  process: 0 | 1
}

interface Step {
  /** Minutes that pass before. A set answers questions for five, and cursors for ten. */
  minutes: number
  /** What happens at the statements with this name. */
  meeting: { name: string; act: 'hold' | 'cut' | 'lose'; ms: number }
  /** They work at the same time. */
  actors: Actor[]
}

const QUESTIONS = ['water brug', 'trein', 'melk water']
const WORDS = ['water', 'brug', 'trein', 'koning', 'melk', 'fiets']
const KINDS: Actor['kind'][] = ['ask', 'read', 'write', 'remove', 'clear', 'bound', 'flush']

const actors = fc.record<Actor>(
  {
    kind: fc.constantFrom<Actor['kind'][]>('ask', 'ask', 'read', 'read', ...KINDS),
    which: fc.nat(99),
    perPage: fc.constantFrom(1, 2, 3, 10),
    process: fc.constantFrom(0, 1),
  },
  { noNullPrototype: true },
)
const steps = fc.record<Step>(
  {
    minutes: fc.constantFrom(0, 0, 0, 2, 3, 6),
    meeting: fc.record(
      {
        name: fc.constantFrom('semantic-set-find', 'semantic-set-keep', 'semantic-set-read'),
        act: fc.constantFrom('hold', 'hold', 'cut', 'lose'),
        ms: fc.constantFrom(1, 20, 60),
      },
      { noNullPrototype: true },
    ),
    actors: fc.array(actors, { minLength: 1, maxLength: 4 }),
  },
  { noNullPrototype: true },
)

/** A set as it lies in the table. */
interface Stored {
  id: string
  question: string
  /** Whole minutes since it was made. */
  age: number
  /** Best first, with relevance × 10,000. */
  candidates: Map<bigint, number>
}

/** The pages that a client has read one after the other. */
interface Sequence {
  asked: number
  perPage: number
  next: SemanticPosition | null
}

/** What a client got. */
interface Page {
  sequence: Sequence
  /** The place from which it read; null: from the beginning. */
  from: SemanticPosition | null
  rows: { seq: bigint; id: string; relevance: number }[]
  total: number
}

interface Model {
  world: World
  searches: SemanticSearch<ArticleRow>[]
  meeting: Step['meeting'] | null
  sequences: Sequence[]
  /** Ids of all articles that have a vector, or had one. */
  articles: Map<bigint, string>
  removed: Set<bigint>
  /** Articles without a vector, by the right of their outlet. */
  silent: Set<bigint>
  sets: Map<string, Stored>
}

function hold(condition: boolean, complaint: string): void {
  if (!condition) throw new Error(complaint)
}

const FOUND = { flushed: 4n, merged: 16n }
const NEVER = new AbortController().signal
const isOff = ({ removed, silent }: Model, seq: bigint) => removed.has(seq) || silent.has(seq)

async function openModel(): Promise<{ model: Model; close(): Promise<void> }> {
  const world = await createWorld(null)
  const server = new URL(world.config.DATABASE_URL)
  const door = await openDoor(
    () => server,
    async (_, name) => {
      const { meeting } = model
      if (name !== meeting?.name) return 'pass'
      if (meeting.act === 'hold') await pause(meeting.ms)
      return meeting.act === 'hold' ? 'pass' : meeting.act
    },
  )
  const pool = createPool(door.to(world.config.DATABASE_URL), 'test', () => {}, {
    ...PATIENT,
    settings: SEARCH_SETTINGS,
  })
  const log = createLogger('test', 'silent')
  const indices = [openIndex(pool), openIndex(pool)]
  const model: Model = {
    world,
    searches: await Promise.all(
      indices.map(index => openSemanticSearch(world.config, pool, index, log)),
    ),
    meeting: null,
    sequences: [],
    articles: new Map(),
    removed: new Set(),
    silent: new Set(),
    sets: new Map(),
  }
  return {
    model,
    async close() {
      for (const one of [...model.searches, ...indices]) await one.close()
      await pool.end()
      await door.close()
      await world.close()
    },
  }
}

async function write({ world, articles }: Model, which: number): Promise<void> {
  const { pool, config } = world
  const titles = Array.from({ length: 1 + (which % 4) }, (_, at) =>
    WORDS.filter((_, bit) => ((which + 7 * at) >> bit) & 1).join(' '),
  )
  const seqs = await world.index(titles.map(title => ({ title: title || 'niets' })))
  const vectors = openVectorStore(config)
  const collections = openEmbeddingCollections(
    config,
    pool,
    vectors,
    createLogger('test', 'silent'),
  )
  const embeddable = await readEmbeddable(pool, seqs)
  for (const { seq, id } of embeddable) articles.set(seq, id)
  await storeEverywhere(pool, collections, vectors, embeddable, NEVER)
}

/** @returns the page that a client got; null: the actor is none, or was refused as is right */
async function act(model: Model, { kind, which, perPage, process }: Actor): Promise<Page | null> {
  const { world, sequences, removed, silent, meeting } = model
  const { pool, config } = world
  const known = [...model.articles].filter(([seq]) => !isOff(model, seq))
  const [seq = 0n, id = ''] = known[which % Math.max(1, known.length)] ?? []
  const read = async (sequence: Sequence): Promise<Page | null> => {
    const from = sequence.next
    const asked = query(QUESTIONS[sequence.asked]!, { perPage: sequence.perPage })
    try {
      const { rows, total, next } = await model.searches[process]!.search(asked, from)
      sequence.next = next
      return { sequence, from, rows, total }
    } catch (error) {
      if (error instanceof SetExpired) {
        hold(isGone(model, from!.setId), 'a cursor has ended before its time')
        sequence.next = null
        return null
      }
      // A client repeats its request.
      if (meeting?.act === 'cut' || meeting?.act === 'lose') return null
      throw error
    }
  }
  switch (kind) {
    case 'ask': {
      const sequence = { asked: which % QUESTIONS.length, perPage, next: null }
      sequences.push(sequence)
      return read(sequence)
    }
    case 'read': {
      const open = sequences.filter(({ next }) => next !== null)
      return open.length === 0 ? null : read(open[which % open.length]!)
    }
    case 'write':
      await write(model, which)
      break
    case 'remove':
      if (id === '') break
      removed.add(seq)
      await removeArticles(pool, [{ seq, id }], 'a court has ordered it')
      break
    case 'clear':
      await clearRemoved(pool, await openStores(pool, config), NEVER)
      break
    case 'bound': {
      if (id === '') break
      silent.add(seq)
      const bound = await createWriter(pool, config)
      await bound([{ seq, id, pageNo: null, snippet: '', isBounded: true, hasVector: false }])
      break
    }
    case 'flush':
      await makeSegments(pool, FOUND)
  }
  return null
}

/** Whether a set that a cursor names may be gone: by its age, or with an article of it. */
function isGone({ sets, silent }: Model, setId: string): boolean {
  const set = sets.get(setId)
  return set === undefined || set.age >= 10 || [...set.candidates.keys()].some(of => silent.has(of))
}

const SETS = `
  select set_id as id, encode(question, 'hex') as question, seqs, relevances,
         floor(extract(epoch from clock_timestamp() - made_at) / 60)::int as age
    from semantic_sets`

async function readSets({ world: { pool } }: Model): Promise<Map<string, Stored>> {
  const { rows } = await pool.query<
    Omit<Stored, 'candidates'> & { seqs: string[]; relevances: number[] }
  >(SETS)
  return new Map(
    rows.map(({ seqs, relevances, ...row }) => [
      row.id,
      { ...row, candidates: new Map(seqs.map((seq, at) => [BigInt(seq), relevances[at]!])) },
    ]),
  )
}

/** The page of a set by a naive reading of the rules. */
function naivePage(
  { articles }: Model,
  { candidates }: Stored,
  isLeft: (seq: bigint) => boolean,
  { from, sequence: { perPage } }: Page,
): { ids: string[]; total: number } {
  const all = [...candidates]
    .filter(([seq]) => isLeft(seq))
    .map(([seq, relevance]) => ({ id: articles.get(seq)!, relevance }))
    .sort((a, b) => b.relevance - a.relevance || (a.id < b.id ? -1 : 1))
  const after = from?.last
  const following = all.filter(
    ({ id, relevance }) =>
      after === undefined ||
      relevance < after.value! ||
      (relevance === after.value && id > after.id),
  )
  return { ids: following.slice(0, perPage).map(({ id }) => id), total: all.length }
}

async function live(model: Model, step: Step): Promise<void> {
  const { pool } = model.world
  if (step.minutes > 0)
    await pool.query("update semantic_sets set made_at = made_at - $1 * interval '1 minute'", [
      step.minutes,
    ])
  const earlier = await readSets(model)
  model.sets = earlier
  const before = { articles: new Set(model.articles.keys()), removed: new Set(model.removed) }
  const quiet = new Set([...model.removed, ...model.silent])
  // Two readers of one sequence would be one client that asks twice.
  const readers = step.actors.filter(({ kind }) => kind === 'read')
  const at = step.actors.filter(one => one.kind !== 'read' || one === readers[0])
  model.meeting = step.meeting
  const pages = await Promise.all(at.map(one => act(model, one)))
  model.meeting = null
  const later = await readSets(model)
  checkSets(model, step, { before: before.articles, quiet, earlier, later })
  const inStep = [...model.removed].some(seq => !before.removed.has(seq))
  const isBounded = step.actors.some(({ kind }) => kind === 'bound')
  const isClearing = step.actors.some(({ kind }) => kind === 'clear')
  for (const page of pages) {
    if (page === null) continue
    const { rows, total, from, sequence } = page
    hold(
      rows.every(({ seq }) => !before.removed.has(seq)),
      'a page shows an article that was taken out before',
    )
    const setId = from?.setId ?? sequence.next?.setId
    const set = setId === undefined ? undefined : (later.get(setId) ?? earlier.get(setId))
    if (set === undefined || isBounded) continue
    // A set of this step may have lost articles again that were taken out and cleared in the step.
    if (inStep && isClearing && !earlier.has(set.id)) continue
    for (const { seq, relevance } of rows)
      hold(
        Math.round(relevance * 10_000) === (earlier.get(set.id) ?? set).candidates.get(seq),
        `article ${seq} is none of the set, or has another relevance`,
      )
    const ids = rows.map(one => one.id)
    const whole = earlier.get(set.id) ?? set
    const least = naivePage(model, whole, seq => !model.removed.has(seq), page)
    const most = naivePage(model, whole, seq => !before.removed.has(seq), page)
    hold(
      inStep || ids.join() === least.ids.join(),
      `the page is ${ids.join()}, not ${least.ids.join()}`,
    )
    hold(
      least.total <= total && total <= most.total,
      `${total} are counted, of ${least.total} to ${most.total}`,
    )
  }
}

interface Change {
  /** Articles that were there before. */
  before: ReadonlySet<bigint>
  /** Those of them that were taken out, or have no vector. */
  quiet: ReadonlySet<bigint>
  earlier: ReadonlyMap<string, Stored>
  later: ReadonlyMap<string, Stored>
}

/** Sets do not change, and a new one is what was there when it was made. */
function checkSets(
  model: Model,
  { actors }: Step,
  { before, quiet, earlier, later }: Change,
): void {
  const isDone = (kind: Actor['kind']) => actors.some(one => one.kind === kind)
  for (const set of later.values()) {
    const seqs = [...set.candidates.keys()]
    const known = earlier.get(set.id)
    const same = (one: Stored | undefined, seq: bigint) =>
      one?.candidates.get(seq) === set.candidates.get(seq)
    if (known !== undefined) {
      hold(
        seqs.every(seq => same(known, seq)),
        'a set has other candidates',
      )
      const lost = [...known.candidates.keys()].filter(seq => !set.candidates.has(seq))
      hold(
        lost.every(seq => model.removed.has(seq)),
        `a set has lost ${lost}`,
      )
    } else {
      const lacking = [...before].filter(seq => !set.candidates.has(seq) && !isOff(model, seq))
      hold(lacking.length === 0, `a new set lacks ${lacking}`)
      const strange = seqs.filter(seq => quiet.has(seq) && !model.removed.has(seq))
      hold(strange.length === 0, `a new set has ${strange}, which have no vector`)
    }
  }
  const serving = [...later.values()].filter(({ question, age }) => question !== '' && age < 5)
  const questions = new Set(serving.map(({ question }) => question))
  hold(questions.size === serving.length, 'a question has two sets')
  if (isDone('clear') && !isDone('ask') && !isDone('remove')) {
    const left = [...later.values()].flatMap(({ candidates }) => [...candidates.keys()])
    hold(!left.some(seq => model.removed.has(seq)), 'a set has an article that was cleared')
  }
}

/**
 * Tries random histories. SEED and REPLAY (the `path` that a failure tells) try one again.
 *
 * @param most steps of a history
 * @param limit ms after which no other history begins
 */
export async function trySets(
  test: Test,
  { runs, most, limit }: { runs: number; most: number; limit: number },
): Promise<void> {
  const { SEED, REPLAY } = process.env
  const seed = Number(SEED ?? Date.now() % 1_000_000_000)
  test.comment(`seed ${seed}`)
  let living = Promise.resolve()
  const tryOne = async (history: Step[]) => {
    const { model, close } = await openModel()
    try {
      await write(model, 27)
      for (const [at, step] of history.entries())
        await live(model, step).catch(error => {
          throw new Error(`step ${at + 1}: ${error.message}`, { cause: error })
        })
    } finally {
      await close()
    }
  }
  const property = fc.asyncProperty(
    fc.array(steps, { minLength: Math.ceil(most / 2), maxLength: most }),
    history => {
      living = tryOne(history)
      return living
    },
  )
  const result = await fc.check(property, {
    seed,
    numRuns: runs,
    ...(REPLAY === undefined ? {} : { path: REPLAY }),
    interruptAfterTimeLimit: limit,
  })
  await living.catch(() => {})
  if (result.failed)
    test.fail(`${String(result.errorInstance)}\n${fc.defaultReportMessage(result)}`)
  else test.ok(result.numRuns > 0, `${result.numRuns} histories`)
}
