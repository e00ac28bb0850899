import t from 'tap'
import { createPace, findingAny, leavesOf, parseExpression, SHORT_TURN } from '#search/index'
import { placesOf } from './matches.ts'

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
  const placesIn = placesOf({ kind: 'keyword', words: ['bruggen'] }, 'nl')
  const places = () => placesIn(`\n${words.join('\n')}\n`, counted)
  t.same(await places(), { places: 10_000, first: 0 })
  t.ok(turns >= 50, `${turns} turns`)
  turns = 0
  const given = places()
  leaves.abort(new Error('left'))
  await t.rejects(given, /left/)
  t.equal(turns, 1, 'it ends with its client')
})

t.test('an expression is looked for in steps, also across their borders', async t => {
  const parsed = parseExpression('"de oude brug" OR ~bruggen OR "brug de" OR nieu*')
  if (!parsed.ok) throw new Error('The expression cannot be read.')
  const { tree } = parsed.match
  const said = ['de', 'oude', 'brug', 'bruggen', 'wal', 'nieuws']
  let seed = 1
  const word = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return said[(seed >> 8) % said.length]
  }
  const text = `\n${Array.from({ length: 20_000 }, word).join('\n')}`
  let rests = 0
  const counted = {
    isDue: () => true,
    async rest() {
      rests++
    },
  }
  const whole = findingAny(leavesOf(tree))(`${text}\n`, 'nl').places.length
  t.match(await placesOf(parsed.match, 'nl')(text, counted), { places: whole, first: 0 })
  t.ok(rests > 20)
})
