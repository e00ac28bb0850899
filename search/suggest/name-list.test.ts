import fc from 'fast-check'
import t from 'tap'
import { createNameList } from './name-list.ts'

const pace = async () => {}
const name = (no: number, text: string, articles = 1, countries = 1) => ({ no, text, articles, countries })

t.test('names that begin with the text come first, then words that do, then the most used', async t => {
  const list = await createNameList(
    [name(1, 'marianne', 9), name(2, 'anna', 1), name(3, 'de anker', 2), name(4, 'ana', 5), name(5, 'johan', 3)],
    pace,
  )
  t.same(list.find('an', 1, 10), [4, 2, 3, 1, 5])
  t.same(list.find('an', 1, 2), [4, 2])
  t.same(list.find('anna', 1, 10), [2])
  t.same(list.find('zz', 1, 10), [])
})

t.test('a name is found in the countries that have it, and once however many texts it has', async t => {
  const list = await createNameList(
    [name(1, 'de krant', 3, 1), name(1, 'krant.example', 2, 1), name(2, 'krant', 1, 4)],
    pace,
  )
  t.same(list.find('krant', 1, 10), [1])
  t.same(list.find('krant', 5, 10), [2, 1])
})

t.test('of equal names, the one with the most articles in those countries is found', async t => {
  const list = await createNameList([name(1, 'krant', 3, 1), name(2, 'krant', 2, 2), name(3, 'de krant', 1, 3)], pace)
  t.same(list.find('krant', 1, 10), [1, 3])
  t.same(list.find('krant', 2, 10), [2, 3])
  t.same(list.find('krant', 3, 10), [1, 3])
})

t.test('every name that contains a text is found, and no other', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '😀'), minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(text, { maxLength: 40 }), text, async (texts, wanted) => {
      const list = await createNameList(
        texts.map((one, no) => name(no, one, no % 5)),
        pace,
      )
      const expected = texts.flatMap((one, no) => (one.includes(wanted) ? [no] : []))
      const found = list.find(wanted, 1, 1_000).toSorted((a, b) => a - b)
      if (found.join() !== expected.join()) throw new Error(`${found} instead of ${expected}`)
    }),
  )
})
