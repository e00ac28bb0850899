import t from 'tap'
import { isWhole } from '#test/script'
import { type Actor, failovers, histories, lostRemovals, moves, reindexings } from './histories.ts'
import { startModel } from './model.ts'

/** Alone, one history of each kind is tried; `test/whole.long.test.ts` tries all of them. */
const RUNS = Number(process.env.RUNS ?? (isWhole ? 3 : 1))
const LIMIT = 100_000

const tryOn = await startModel(t)

const IMPORT: Actor = {
  kind: 'import',
  keys: [1, 2, 3, 5, 7, 8, 9, 10, 11, 13, 14, 15],
  most: 6,
  least: 3,
  piece: 6,
  rest: 0,
  ahead: 0,
  stays: 0,
  what: 'words',
  meetings: [],
}
const met = (meetings: Actor['meetings'], more: Partial<Actor> = {}) => [
  [{ ...IMPORT, ...more, meetings }],
]
/**
 * The commit of the import is undone: its 28th or 29th statement, since two connections ask at a
 * time.
 */
const LOST = [28, 29].map(at => met([{ at, act: 'fail over', ms: 3 }]))
const behind = (at: number, then: number): Actor['meetings'] => [
  { at, act: 'behind', ms: 0 },
  { at: then, act: 'fail over', ms: 6 },
]
/**
 * A new primary gives the number of the import's segment to another one. The standby falls behind
 * after the names have their numbers: with others the segment would be built again.
 */
const AGAIN = met(behind(20, 26))
/** A new primary gives the numbers of a batch's names to others. */
const MANY = { keys: Array.from({ length: 70 }, (_, at) => at), piece: 70 }
const NAMES = (['crawler', 'import'] as const).map(kind => met(behind(1, 0), { ...MANY, kind }))
/** Segments are built again while the next ones are built, because others write their articles. */
const MIXED = [
  [
    { ...IMPORT, keys: [0, 30, 31, 9, 0, 22, 32], most: 5, least: 1, ahead: 20 },
    { ...IMPORT, kind: 'crawler' as const, keys: [0, 43, 24, 4, 20, 3, 9, 5, 31, 18], piece: 2 },
  ],
]

t.test(
  'the index says what a naive model says, whoever writes beside whom, and whatever ends or restarts',
  async t => {
    const acts = ['hold', 'hold', 'cut', 'lose', 'kill', 'murder', 'thread', 'restart'] as const
    await tryOn(t, histories([...acts], 3), { runs: RUNS, examples: [MIXED], limit: LIMIT })
  },
)

t.test(
  'an import goes on after a failover without the last transactions, and tells the truth',
  async t => {
    await tryOn(t, failovers(), {
      runs: isWhole ? 1 : 0,
      examples: isWhole ? [...NAMES, ...LOST, AGAIN] : [LOST[0]!, AGAIN],
      limit: 200_000,
    })
  },
)

t.test(
  'what was taken out stays out, and the rest is whole, whatever a failover undoes',
  async t => {
    await tryOn(t, lostRemovals(), { runs: RUNS, limit: 200_000 })
  },
)

t.test(
  'an outlet moves whole or not at all, and nothing of it stands twice, whatever meets the move',
  async t => {
    await tryOn(t, moves(), { runs: RUNS, limit: 200_000 })
  },
)

t.test('a reindexing beside all others changes nothing and brings nothing back', async t => {
  await tryOn(t, reindexings(['hold', 'cut', 'lose', 'kill', 'murder']), {
    runs: RUNS,
    limit: LIMIT,
  })
})
