import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createNameTexts } from './name-texts.ts'

/** A list of the words of all names, with an empty word after each name. */
const wordsOf = (names: string[]) =>
  `\n${names.map(name => (name === '' ? '\n' : `${name.replaceAll(' ', '\n')}\n\n`)).join('')}`

const unit = fc.constantFrom('a', 'b', ' ', 'é', '😀', '%')
const folded = (text: string) => text.replace(/ +/g, ' ').trim()
const name = fc.string({ unit, maxLength: 9 }).map(folded)
const part = fc.string({ unit, maxLength: 4 }).map(folded)

t.test('a part is found in exactly the names that contain it, whatever range is searched', async () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 300, maxLength: 400 }), part, fc.nat(300), (names, wanted, split) => {
      const texts = createNameTexts()
      const nos = names.map((_, at) => at + 7)
      texts.add(nos.slice(0, split), wordsOf(names.slice(0, split)))
      texts.add(nos.slice(split), wordsOf(names.slice(split)))
      assert.equal(texts.size, names.length)
      const expected = (from: number, to: number) =>
        nos.filter((_, at) => at >= from && at < to && names[at]!.includes(wanted))
      const found = (from: number, to: number) => {
        const visited: number[] = []
        texts.search(wanted).visit(from, to, no => visited.push(no))
        return visited
      }
      // So many names are looked up by their words, and so few by their texts.
      assert.deepEqual(found(0, names.length), expected(0, names.length))
      assert.deepEqual(found(split, names.length), expected(split, names.length))
      assert.deepEqual(found(10, 20), expected(10, 20))
    }),
    { numRuns: 300 },
  )
})

t.test('a part may end one word and begin the next', async t => {
  const names = ['jan van dijk', 'johan van den berg', 'jan vandijk', 'van', ...Array.from({ length: 300 }, () => 'zo')]
  const texts = createNameTexts()
  texts.add(
    names.map((_, at) => at),
    wordsOf(names),
  )
  const found = (wanted: string) => {
    const visited: number[] = []
    texts.search(wanted).visit(0, names.length, no => visited.push(no))
    return visited
  }
  t.same(found('an van'), [0, 1, 2])
  t.same(found('jan van d'), [0])
  t.same(found('n v'), [0, 1, 2])
  t.same(found('van'), [0, 1, 2, 3])
  t.same(found('van d'), [0, 1])
  t.same(found('dijk jan'), [])
})
