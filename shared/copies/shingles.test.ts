import t from 'tap'
import { areCopies, sharedOf } from './shingles.ts'

/** The shingles from one number to another. */
const from = (first: number, last: number): Float64Array =>
  Float64Array.from({ length: last - first + 1 }, (_, at) => first + at)

// Held here: decision 48.
t.test('two texts are copies from exactly 0.6 of the shorter text on', async t => {
  const text = from(1, 5)
  t.ok(areCopies(text, from(3, 7), false), '3 of 5')
  t.notOk(areCopies(text, from(4, 8), false), '2 of 5')
  t.ok(areCopies(from(1, 100), from(41, 140), false), '60 of 100')
  t.notOk(areCopies(from(1, 100), from(42, 141), false), '59 of 100')
  t.ok(areCopies(text, from(1, 50), false), 'the shorter text counts')
  t.equal(sharedOf(text, from(3, 7)), 0.6)
})

t.test('two texts of one outlet need the fraction of the longer text', async t => {
  t.ok(areCopies(from(1, 6), from(1, 10), true), '6 of 10')
  t.notOk(areCopies(from(1, 5), from(1, 10), true), '5 of 10: it has grown')
  t.notOk(areCopies(from(1, 10), from(1, 5), true))
})
