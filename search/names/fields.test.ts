import t from 'tap'
import type { Columns } from '../segment/columns.ts'
import { docsOf } from '../segment/doc-id-set.ts'
import { NUMBER_FIELDS } from './name-lists.ts'

const SIZE = 4_096
const HIGHEST = 1_000

/** The documents of a segment with their authors: none, one or several each. */
const authorsOf = Array.from({ length: SIZE }, (_, doc) =>
  Array.from({ length: (doc * 7) % 4 }, (_, at) => (doc * 31 + at * 17) % (HIGHEST + 1)),
)

function columnsOf(documents: number[][]): Columns {
  const authorStarts = new Uint32Array(documents.length + 1)
  for (const [doc, own] of documents.entries()) authorStarts[doc + 1] = authorStarts[doc]! + own.length
  return { size: documents.length, authors: Int32Array.from(documents.flat()), authorStarts } as Columns
}

t.test('the documents of authors: of one, of some and of all', t => {
  const columns = columnsOf(authorsOf)
  for (const numbers of [[], [500], [0, HIGHEST], Array.from({ length: HIGHEST + 1 }, (_, no) => no)]) {
    const bits = new Uint32Array((HIGHEST >>> 5) + 1)
    for (const no of numbers) bits[no >>> 5]! |= 1 << (no & 31)
    const expected = authorsOf.flatMap((own, doc) => (own.some(no => numbers.includes(no)) ? [doc] : []))
    t.same(Array.from(docsOf(NUMBER_FIELDS.author.listStored(columns, bits))), expected)
  }
  t.end()
})

t.test('a segment without authors', t => {
  const bits = Uint32Array.of(0xffffffff)
  t.equal(NUMBER_FIELDS.author.listStored(columnsOf([[], [], []]), bits).count, 0)
  t.end()
})
