import t from 'tap'
import { createPace, SHORT_TURN } from '../../../search/index.ts'
import { placesIn } from './matches.ts'

t.test('a long text is counted in steps, between which others have their turn', async t => {
  const words = Array.from({ length: 30_000 }, (_, n) => (n % 3 === 0 ? 'brug' : `woord${n}`))
  let turns = 0
  const pace = createPace(SHORT_TURN)
  const counted = { isDue: () => true, rest: () => pace.rest().then(() => void turns++) }
  t.equal(await placesIn(words, { kind: 'keyword', words: ['bruggen'] }, 'nl', counted), 10_000)
  t.ok(turns >= 300, `${turns} turns`)
})
