import t from 'tap'
import { hashOf } from './arrays.ts'
import { createTermFilterBuilder, isFiltered, lacks } from './columns.ts'

t.test('a filter never denies a term that is there, and denies most that are not', async t => {
  const builder = createTermFilterBuilder()
  const terms = Array.from({ length: 20_000 }, (_, number) => `Sn${number.toString(36)}`)
  for (const term of terms) builder.add(term, hashOf(term))
  const filter = builder.build()
  t.notOk(terms.some(term => lacks(filter, hashOf(term))))
  const wrong = terms.filter(term => !lacks(filter, hashOf(`Sf${term}`)))
  t.ok(wrong.length < terms.length / 40, `${wrong.length} of ${terms.length} absent terms are not denied`)
  t.equal(filter.length, 25_000)
})

t.test('shingles are not in the filter, and a filter without terms denies nothing', async t => {
  const builder = createTermFilterBuilder()
  builder.add('Wthe\nbook', hashOf('Wthe\nbook'))
  t.notOk(isFiltered('Wthe\nbook'))
  const filter = builder.build()
  t.equal(filter.length, 0)
  t.notOk(lacks(filter, hashOf('book')))
})
