import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createNameTexts } from '../memory/name-index.ts'
import { listByAuthor } from '../memory/name-lists.ts'
import { hasBit } from '../segment/arrays.ts'
import { docsOf } from '../segment/doc-id-set.ts'

const unit = fc.constantFrom('a', 'b', ' ', 'é', '😀', '%')
const folded = (text: string) => text.replace(/ +/g, ' ').trim()
const name = fc.string({ unit, maxLength: 9 }).map(folded)
const part = fc.string({ unit, maxLength: 4 }).map(folded)

t.test('a part is found in exactly the names that contain it, whatever range is searched', async t => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 20, maxLength: 60 }), part, fc.nat(19), (names, wanted, split) => {
      const texts = createNameTexts()
      const nos = names.map((_, at) => at + 7)
      const add = (from: number, to: number) =>
        texts.add({
          nos: Int32Array.from(nos.slice(from, to)),
          names: Buffer.from(
            names
              .slice(from, to)
              .map(one => `${one}\n`)
              .join(''),
          ),
        })
      add(0, split)
      add(split, names.length)
      for (const [from, to] of [
        [0, names.length],
        [split, names.length],
        [10, 20],
      ] as const) {
        const bits = new Uint32Array(4)
        texts.search(Buffer.from(wanted), from, to, bits)
        const found = nos.filter(no => hasBit(bits, no))
        assert.deepEqual(
          found,
          nos.filter((_, at) => at >= from && at < to && names[at]!.includes(wanted)),
        )
      }
    }),
    { numRuns: 300 },
  )
  const texts = createNameTexts()
  texts.add({ nos: Int32Array.of(5_000, 5_000), names: Buffer.from('de krant\nkrant.example\n') })
  t.same([texts.of(5_000), texts.of(3), texts.of(60_000)], [['de krant', 'krant.example'], [], []])
})

t.test('the documents of authors: of one, of some, of all and of none', async t => {
  const highest = 1_000
  const documents = Array.from({ length: 4_096 }, (_, doc) =>
    Array.from({ length: (doc * 7) % 4 }, (_, at) => (doc * 31 + at * 17) % (highest + 1)),
  )
  const authorStarts = new Uint32Array(documents.length + 1)
  for (const [doc, own] of documents.entries()) authorStarts[doc + 1] = authorStarts[doc]! + own.length
  const columns = { size: documents.length, authors: Int32Array.from(documents.flat()), authorStarts }
  for (const numbers of [[], [500], [0, highest], Array.from({ length: highest + 1 }, (_, no) => no)]) {
    const bits = new Uint32Array((highest >>> 5) + 1)
    for (const no of numbers) bits[no >>> 5]! |= 1 << (no & 31)
    const expected = documents.flatMap((own, doc) => (own.some(no => numbers.includes(no)) ? [doc] : []))
    t.same(Array.from(docsOf(listByAuthor(columns, bits))), expected)
  }
})
