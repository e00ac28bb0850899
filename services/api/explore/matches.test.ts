import t from 'tap'
import { createPace, SHORT_TURN } from '../../../search/index.ts'
import { placesIn } from './matches.ts'

t.test('a long text is counted in steps, between which others have their turn', async t => {
  const words = Array.from({ length: 30_000 }, (_, n) => (n % 3 === 0 ? 'brug' : `woord${n}`))
  let turns = 0
  const pace = createPace(SHORT_TURN)
  const leaves = new AbortController()
  const counted = {
    isDue: () => true,
    async rest() {
      await pace.rest()
      turns++
      leaves.signal.throwIfAborted()
    },
  }
  const places = () => placesIn(words, { kind: 'keyword', words: ['bruggen'] }, 'nl', counted)
  t.same(await places(), { places: 10_000, first: 0 })
  t.ok(turns >= 300, `${turns} turns`)
  turns = 0
  const given = places()
  leaves.abort(new Error('left'))
  await t.rejects(given, /left/)
  t.equal(turns, 1, 'it ends with its client')
})
