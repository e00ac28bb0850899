import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createPace } from '../pace.ts'
import { hasBit } from '../segment/bitmap.ts'
import { createNameTexts } from './name-texts.ts'
import { createNumberSet } from './number-set.ts'

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

t.test('many names are listed by their words, and the rare and the common part find the same', async t => {
  const pieces = ['a', 'an', 'jan', 'van', 'de', 'dé', 'n']
  const word = (at: number) => `${pieces[at % 7]}${pieces[(at >> 3) % 7]}${at % 11 === 0 ? at : ''}`
  const names = Array.from({ length: 40_000 }, (_, at) => `${word(at)} ${word(at >> 2)} ${word(at >> 5)}`)
  const texts = createNameTexts()
  texts.add(
    names.map((_, at) => at + 1),
    wordsOf(names),
  )
  const later = 'jan van later'
  for (const part of ['a', 'n d', 'de j', 'janvan', 'an jan an', '17', '7 a', 'dé', 'x', 'de123 x', 'n dean']) {
    const numbers = createNumberSet()
    t.equal(await texts.searchListed(part, numbers, createPace()), names.length)
    const bits = numbers.bitmap(names.length + 1)
    const wrong = names.findIndex((name, at) => name.includes(part) !== hasBit(bits, at + 1))
    t.equal(wrong, -1, `${part}: ${numbers.count} names, not in or wrongly in: ${names[wrong]}`)
    const visited = new Set<number>()
    numbers.each(no => visited.add(no))
    t.equal(visited.size, names.filter(name => name.includes(part)).length)
  }
  texts.add([50_000], wordsOf([later]))
  t.equal(await texts.searchListed('jan', createNumberSet(), createPace()), names.length, 'not listed yet')
  t.same([texts.of(50_000), texts.of(3), texts.of(60_000)], [[later], [names[2]], []])
})
