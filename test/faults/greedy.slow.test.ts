import t from 'tap'
import { race } from './greedy/race.ts'

t.setTimeout(600_000)

t.test('twenty honest outlets have their articles in twice the time at most beside four greedy ones', async t => {
  const { alone, beside, greedy } = await race(
    { tarpits: 250, big: 200, bigBytes: 2_000_000, bombs: 200, endless: 40 },
    { CRAWL_TIMEOUT: '6s', NORMALISE_TIMEOUT: '8s' },
    200_000,
  )
  t.comment(`alone ${Math.round(alone)} ms, beside greedy outlets ${Math.round(beside)} ms\n${greedy}`)
  t.ok(beside <= 2 * alone, `${Math.round(beside)} ms instead of ${Math.round(alone)} ms`)
})
