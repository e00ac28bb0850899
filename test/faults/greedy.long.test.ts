import t from 'tap'
import { race } from './greedy/race.ts'

t.setTimeout(2_400_000)

t.test('of full size: 2,000 tarpits, pages of ten megabytes, 2,000 bombs, with the settings as they are', async t => {
  const { alone, beside, greedy } = await race(
    { tarpits: 2_000, big: 1_000, bigBytes: 9_900_000, bombs: 2_000, endless: 400 },
    { CRAWL_HOST_DELAY: '1s' },
    900_000,
  )
  t.comment(`alone ${Math.round(alone)} ms, beside greedy outlets ${Math.round(beside)} ms\n${greedy}`)
  t.ok(beside <= 2 * alone, `${Math.round(beside)} ms instead of ${Math.round(alone)} ms`)
})
