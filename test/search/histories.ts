import fc from 'fast-check'
import { parseArticle } from '#scripts/articles/line'
import type { NewArticle } from '#search/types'
import { createRandom } from '#test/faults/random'
import { gradedText, randomArticles, statedOf } from './random-articles.ts'

/*
 * What happens in random histories of the index: who writes what beside whom, and what meets them
 * between two statements.
 */

/** What happens at a statement of a writer. */
export interface Meeting {
  /**
   * Number of the statement, from 1 on; 0: between two batches, or before a segment; below: counted
   * among those that insert articles, from -1 on.
   */
  at: number
  /**
   * `hold` it for `ms`; `cut` the connection before it, or `lose` its answer; `kill` the writer
   * before it, or `murder` it when the server has run it; end the newest `thread`. `restart`
   * Postgres, or `fail over` to a standby that lacks the last transactions: those whose commits
   * wait for it, or that were told after it fell `behind`. `stop` the writer and its process
   * until the others of the step are done. These begin when something meets a command.
   */
  act:
    | 'hold'
    | 'cut'
    | 'lose'
    | 'kill'
    | 'murder'
    | 'thread'
    | 'restart'
    | 'behind'
    | 'fail over'
    | 'stop'
  ms: number
}

export interface Actor {
  /** `command`: an import in a process of its own. */
  kind:
    | 'import'
    | 'command'
    | 'crawler'
    | 'normaliser'
    | 'segments'
    | 'reindex'
    | 'rights'
    | 'remove'
    | 'look'
    | 'move'
    | 'reopen'
    | 'sync'
  /** Its articles, some repeated. */
  keys: number[]
  /** Of an import's segments. */
  most: number
  least: number
  /** Articles that are given to it at once, and ms of rest after them. */
  piece: number
  rest: number
  ahead: number
  /** ms for which it stays when all is written, and perhaps flushes and merges. */
  stays: number
  /** Of a reindexing. */
  what: 'words' | 'snippets' | 'copies'
  meetings: Meeting[]
}

/** Actors that work at the same time. */
export type Step = Actor[]

const KEYS = 48
const WRITERS: Actor['kind'][] = ['import', 'crawler', 'normaliser']
const KINDS: Actor['kind'][] = [
  ...WRITERS,
  ...WRITERS,
  'import',
  'segments',
  'reindex',
  'rights',
  'remove',
  'look',
  'move',
  'reopen',
  'sync',
]

/** Whether all its articles are there when it is done. */
export const isWriter = ({ kind }: Actor): boolean => kind === 'command' || WRITERS.includes(kind)

export function meetings(acts: Meeting['act'][]): fc.Arbitrary<Meeting[]> {
  const at = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 150 }))
  const ms = fc.constantFrom(1, 10, 50, 300)
  return fc.array(fc.record({ at, act: fc.constantFrom(...acts), ms }, { noNullPrototype: true }), {
    maxLength: 3,
  })
}

/** @param acts that may meet a writer */
export function histories(acts: Meeting['act'][], steps: number): fc.Arbitrary<Step[]> {
  const fields = {
    kind: fc.constantFrom<Actor['kind'][]>(...KINDS),
    keys: fc.array(fc.nat(KEYS - 1), { minLength: 4, maxLength: 48 }),
    most: fc.integer({ min: 4, max: 16 }),
    least: fc.integer({ min: 1, max: 4 }),
    piece: fc.integer({ min: 1, max: 24 }),
    rest: fc.constantFrom(0, 0, 5, 40),
    ahead: fc.constantFrom(0, 20),
    stays: fc.constantFrom(0, 0, 0, 6_000),
    what: fc.constantFrom<Actor['what'][]>('words', 'words', 'snippets', 'copies'),
    meetings: meetings(acts),
  } satisfies { [Field in keyof Actor]: fc.Arbitrary<Actor[Field]> }
  const actor = fc.record(fields, { noNullPrototype: true })
  return fc.array(fc.array(actor, { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: steps,
  })
}

/** Importers beside others, of which one sees a failover; perhaps to a standby that fell behind. */
export function failovers(): fc.Arbitrary<Step[]> {
  const fields = {
    at: fc.integer({ min: 10, max: 60 }),
    ms: fc.nat(7),
    behind: fc.oneof(fc.constant(0), fc.nat(40)),
  }
  const failover = fc.record(fields, { noNullPrototype: true })
  return fc.tuple(histories(['hold', 'lose'], 1), failover).map(([[step], { at, ms, behind }]) => {
    const [first, ...others] = step!
    const meetings: Meeting[] = [{ at, act: 'fail over', ms }]
    if (behind > 0) meetings.push({ at: Math.max(1, at - behind), act: 'behind', ms: 0 })
    // Who has met a move that is undone would have to forget it.
    const beside = others.filter(({ kind }) => behind === 0 || kind !== 'move')
    return [[{ ...first!, kind: 'import', meetings }, ...beside]]
  })
}

/** Removals beside others, of which one sees a failover; the articles are there before. */
export function lostRemovals(): fc.Arbitrary<Step[]> {
  const keys = fc.array(fc.nat(KEYS - 1), { minLength: 16, maxLength: 48 })
  return fc.tuple(failovers(), keys).map(([[step], keys]) => {
    const [first, ...others] = step!
    const all = { ...first!, keys, piece: 8 }
    return [[{ ...all, meetings: [] }], [{ ...all, kind: 'remove' }, ...others]]
  })
}

/** An outlet moves beside others, and is ended in the middle or sees a failover. */
export function moves(): fc.Arbitrary<Step[]> {
  const meeting = fc.record(
    {
      at: fc.integer({ min: 1, max: 16 }),
      act: fc.constantFrom<Meeting['act'][]>('kill', 'murder', 'cut', 'lose', 'fail over'),
      ms: fc.nat(7),
    },
    { noNullPrototype: true },
  )
  return fc.tuple(histories(['hold'], 1), meeting).map(([[step], meeting]) => {
    const [first, ...others] = step!
    const all = { ...first!, keys: Array.from({ length: KEYS }, (_, at) => at), piece: 8 }
    return [
      [{ ...all, kind: 'import', keys: all.keys.slice(0, KEYS / 2) }],
      [{ ...all, kind: 'move', meetings: [meeting] }, { ...all, kind: 'crawler' }, ...others],
      [
        { ...all, kind: 'move' },
        { ...all, kind: 'normaliser' },
      ],
    ]
  })
}

/** All is reindexed, in one way or another, beside others; the articles are there before. */
export function reindexings(acts: Meeting['act'][]): fc.Arbitrary<Step[]> {
  const keys = Array.from({ length: KEYS }, (_, at) => at)
  return histories(acts, 2).map(steps => [
    [{ ...steps[0]![0]!, kind: 'import', keys, meetings: [] }],
    ...steps.map(step => [{ ...step[0]!, kind: 'reindex' as const }, ...step]),
  ])
}

/**
 * A command that is stopped or killed at any statement, beside others who want the same articles.
 */
export function commands(): fc.Arbitrary<Step[]> {
  const at = fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 50 }))
  const act = fc.constantFrom<Meeting['act']>('stop', 'stop', 'kill')
  return fc.tuple(histories(['hold', 'cut', 'lose'], 1), at, act).map(([[step], at, act]) => {
    const [first, ...others] = step!
    return [
      [
        { ...first!, kind: 'command', meetings: [{ at, act, ms: 0 }] },
        { ...first!, kind: 'crawler' },
        ...others,
      ],
    ]
  })
}

const TIMES = ['2019-05-01', '2021-03-04', '2021-03-05', '2024-02-29T23:59:59.999Z'].map(
  time => new Date(time),
)

/** Four parts of a story. Texts that begin with the same part, or the next one, are copies. */
const partsOf = (key: number) =>
  [0, 1, 2, 3].map(part => gradedText(createRandom((key % 5) + part), 25)).join(' ')

/** The article of a key as a line of an import. Some want ids that others want, too. */
export function lineOf(key: number): string {
  const [drawn] = randomArticles(createRandom(key + 1), 1, undefined, 12)
  const host = drawn!.outlet.domain === MOVING.from ? MOVING.from : 'model.example'
  return JSON.stringify({
    ...drawn,
    publishedAt: undefined,
    ingestedAt: undefined,
    stated: undefined,
    ...statedOf(key),
    plain: true,
    title: `${drawn!.title} woord${key}`,
    url: `https://${host}/${key}`,
    ...(key % 4 !== 0 && { body: partsOf(key) }),
    published_at: key % 5 === 0 ? null : TIMES[key % 4],
    ingested_at: [undefined, undefined, null, TIMES[key % 4]][key % 4],
    ...(key % 6 === 0 && { id: `given-${key % 4}` }),
    ...(key % 7 === 0 && { rights: { bounded: true, vector: key % 2 === 0 } }),
  })
}

/** An outlet of many articles, and the domain to which it moves. */
export const MOVING = { from: 'dagkoerier.example', to: 'later.example' }

/** An article as a crawler finds it once its outlet has moved. */
export const movedOf = (article: NewArticle): NewArticle =>
  article.outlet.domain !== MOVING.from
    ? article
    : {
        ...article,
        outlet: { ...article.outlet, domain: MOVING.to },
        addresses: article.addresses.map(address => address.replace(MOVING.from, MOVING.to)),
      }

/** The article of a key, the same each time. */
export const articleOf = (key: number): NewArticle => parseArticle(lineOf(key), Infinity)

export const keyOf = ({ url }: { url: string }): number => Number(url.split('/').at(-1))

/** How an actor ended. */
export interface Ended {
  actor: Actor
  /** What an import told; null: it was killed, or tells nothing. */
  told: { indexed: number; known: number; removed: number } | null
  /** All its articles must be there. */
  isDone: boolean
  /** Ids of articles whose snippets and vectors it took away. */
  bounded?: string[]
  /** Articles that it began to take out, with their keys. */
  doomed?: { id: string; key: number }[]
}
