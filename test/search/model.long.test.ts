import t from 'tap'
import { failureOf } from '#test/script'
import { commands, failovers, histories, lostRemovals, moves } from './histories.ts'
import { startModel } from './model.ts'

const ACTS = ['hold', 'cut', 'lose', 'kill', 'murder', 'thread', 'restart'] as const

t.test(
  'hundreds of histories of small segments, and some of real ones, agree with a naive model',
  async t => {
    const tryOn = await startModel(t)
    await tryOn(t, histories([...ACTS], 5), { runs: 200, limit: 700_000 })
    await tryOn(t, failovers(), { runs: 20, limit: 400_000 })
    await tryOn(t, lostRemovals(), { runs: 20, limit: 400_000 })
    await tryOn(t, moves(), { runs: 20, limit: 400_000 })
    // Segments of 1,024 to 4,096 articles.
    await tryOn(t, histories([...ACTS], 1), { runs: 4, scale: 256, limit: 600_000 })
  },
)

t.test(
  'an import whose process is stopped or killed holds nobody up, and leaves nothing wrong',
  async t => {
    const tryOn = await startModel(t)
    await tryOn(t, commands(), { runs: 20, limit: 700_000 })
  },
)

t.test('an import waits for the lock of a stopped process until its real limit', async t =>
  t.equal(await failureOf('search/stopped-flush.slow', { REAL_LIMIT: 'yes' }), null),
)
