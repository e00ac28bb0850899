import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createNameIndex } from './memory/name-index.ts'
import { rankNames } from './suggestions.ts'

/** In minutes; earlier than all articles. */
const EVER = -(2 ** 31)

/** An outlet or author with one name and its counts. */
const name = (no: number, text: string, articles = 1, countries = 1, newest = [0, 0, 0]) => ({
  no,
  texts: [text],
  articles,
  countries,
  newest,
})

async function rank(named: ReturnType<typeof name>[]) {
  const sorted = named.toSorted((a, b) => a.no - b.no)
  const index = createNameIndex(async wanted => {
    const { after, limit } = Array.isArray(wanted) ? { after: Infinity, limit: 0 } : wanted
    const read = sorted.filter(one => one.no > after).slice(0, limit)
    return {
      nos: Int32Array.from(read.flatMap(({ no, texts }) => texts.map(() => no))),
      names: Buffer.from(read.flatMap(({ texts }) => texts.map(text => `${text}\n`)).join('')),
    }
  }, 1 << 20)
  await index.readAll()
  const uses = new Map(named.map(one => [one.no, one]))
  return rankNames(
    index,
    no => uses.get(no) ?? { articles: 0, countries: 0, newest: [0, 0, 0] },
    async () => {},
  )
}

t.test(
  'names that begin with the text come first, then words that do, then the most used',
  async t => {
    const names = [
      name(1, 'marianne', 9),
      name(2, 'anna', 1),
      name(3, 'de anker', 2),
      name(4, 'ana', 5),
      name(5, 'jan', 3),
    ]
    const ranking = await rank(names)
    t.equal(ranking.size, 5)
    t.same(await ranking.find('an', 1, EVER, 10), [4, 2, 3, 1, 5])
    t.same(await ranking.find('an', 1, EVER, 2), [4, 2])
    t.same(await ranking.find('anna', 1, EVER, 10), [2])
    t.same(await ranking.find('zz', 1, EVER, 10), [])
    const others = Array.from({ length: 400 }, (_, at) => name(10 + at, `q${at}`, 7))
    t.same(
      await (await rank([...names, ...others])).find('an', 1, EVER, 10),
      [4, 2, 3, 1, 5],
      'few among many',
    )
  },
)

t.test('equal names of the same countries are one, with the articles of all', async t => {
  const ranking = await rank([
    name(1, 'jan berg', 2),
    name(2, 'jan dal', 4),
    name(3, 'jan berg', 3),
    name(4, 'jan bergh', 1),
    name(5, 'jan zee', 0),
  ])
  t.same(await ranking.find('jan', 1, EVER, 10), [3, 2, 4])
  t.equal(ranking.size, 4, 'all have a place, though two are told as one')
})

t.test('outlets of one name are told each, by their domains', async t => {
  const outlet = (no: number, domain: string) => ({
    ...name(no, 'le soir', no),
    texts: ['le soir', domain],
  })
  const named = [outlet(1, 'soir.example'), outlet(2, 'lesoir.example'), outlet(3, 'soir.example')]
  t.same(await (await rank(named)).find('soir', 1, EVER, 10), [3, 2])
})

t.test('every name that contains a text is found, and no other', async () => {
  const text = fc
    .string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '😀'), minLength: 1, maxLength: 6 })
    .map(one => one.replace(/ +/g, ' ').trim())
    .filter(one => one !== '')
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(text, { maxLength: 40 }), text, async (texts, wanted) => {
      const ranking = await rank(texts.map((one, at) => name(at + 1, one, at % 5)))
      const expected = texts.flatMap((one, at) =>
        at % 5 > 0 && one.includes(wanted) ? [at + 1] : [],
      )
      const found = await ranking.find(wanted, 1, EVER, 1_000)
      assert.deepEqual(
        found.toSorted((a, b) => a - b),
        expected,
      )
    }),
  )
})

t.test(
  'a name is found by its newest article in a wanted country, and told by an author who has it',
  async t => {
    const ranking = await rank([
      name(1, 'jan jansen', 9, 1, [10, 0, 0]),
      name(2, 'jan jansen', 3, 1, [50, 0, 0]),
      name(3, 'jana', 2, 3, [10, 90, 0]),
    ])
    t.same(await ranking.find('jan', 1, EVER, 10), [1, 3], 'the usual spelling')
    t.same(await ranking.find('jan', 1, 11, 10), [2], 'the one that is new enough')
    t.same(await ranking.find('jan', 1, 51, 10), [])
    t.same(await ranking.find('jan', 2, 51, 10), [3])
  },
)
