import t from 'tap'
import { createPermits } from '#services/api/access/permits'
import { VectorFailure } from '#shared/vectors/store'
import { createNearest, relevanceOf } from './candidate-sets.ts'
import { NO_PERMITS } from './query.ts'

t.test(
  'relevance is the cosine clamped to 0–1, rounded half up to four decimals (decision 27)',
  async t => {
    for (const [score, relevance] of [
      [0.85004999, 8500],
      [0.85005, 8501],
      [0.12345, 1235],
      [1.0000001, 10_000],
      [-0.2, 0],
      [0, 0],
    ] as const)
      t.equal(relevanceOf(score), relevance, String(score))
  },
)

t.test(
  'a question that waits behind others of its key is given up with them (decision 29)',
  async t => {
    const ends: number[] = []
    const start = performance.now()
    const nearest = createNearest({
      async nearest(_text, _coverage, ms) {
        ends.push(performance.now() - start + ms)
        await new Promise(done => setTimeout(done, Math.min(ms, 400)))
        throw new VectorFailure('unavailable', 'Nothing answers.')
      },
    })
    const permits = createPermits({ atOnce: 2, waiting: 100, patience: 60_000 })
    const asking = {
      ...NO_PERMITS,
      question: <T>(work: () => Promise<T>) => permits.take('key', work),
    }
    const reach = { countries: ['NL' as const], since: 0 }
    const asked = Array.from({ length: 20 }, (_, n) => nearest.ask(`question ${n}`, reach, asking))
    await Promise.all(asked.map(one => t.rejects(one, VectorFailure)))
    t.ok(ends.length < 20, 'the last of them were not begun')
    for (const end of ends) t.ok(end < 1_600, `may take until ${Math.round(end)} ms after it came`)
  },
)

t.test(
  'a question keeps its permit until the servers have answered, also when its caller leaves',
  async t => {
    const answers = new Map<string, () => void>()
    const nearest = createNearest({
      async nearest(text) {
        await new Promise<void>(answer => answers.set(text, answer))
        return []
      },
    })
    const permits = createPermits({ atOnce: 1, waiting: 100, patience: 60_000 })
    const reach = { countries: ['NL' as const], since: 0 }
    const ask = (text: string, leaves = new AbortController()) =>
      nearest.ask(text, reach, {
        ...NO_PERMITS,
        leaves: leaves.signal,
        question: <T>(work: () => Promise<T>) => permits.take('key', work, leaves.signal),
      })
    const leaving = new AbortController()
    const left = ask('first', leaving)
    const joined = ask('first')
    const next = ask('second')
    leaving.abort(new Error('left'))
    await new Promise(setImmediate)
    t.same([...answers.keys()], ['first'], 'the next question of the key waits')
    answers.get('first')?.()
    await t.rejects(left, /left/)
    t.same(await joined, [], 'who joined it has the answer')
    t.ok(answers.has('second'))
    answers.get('second')?.()
    t.same(await next, [])
  },
)
