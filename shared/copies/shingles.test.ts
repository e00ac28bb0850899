import t from 'tap'
import { placeOf } from '#search/analysis/index'
import {
  areCopies,
  copyWords,
  distinct,
  hasShingle,
  judge,
  leastCommon,
  sampleOf,
  sharedOf,
  shinglesAt,
  WEEK,
} from './shingles.ts'

/** The shingles from one number to another. */
const from = (first: number, last: number): Float64Array<ArrayBuffer> =>
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

t.test('of the shingles of two texts those of both are counted', async t => {
  t.equal(sharedOf(Float64Array.of(1, 3, 5, 9), Float64Array.of(2, 3, 9)), 2 / 3)
  t.equal(sharedOf(from(1, 0), from(1, 5)), 0, 'a text without any has none')
  t.equal(WEEK, 7 * 24 * 3_600_000)
})

t.test('shingles are found by halving', async t => {
  const sorted = Float64Array.of(1, 3, 3, 7, 9)
  const places = [0, 1, 2, 3, 5, 9, 10].map(number => placeOf(sorted, number))
  t.same(places, [0, 0, 1, 1, 3, 4, 5])
  t.same(
    [0, 1, 4, 9, 10].filter(number => hasShingle(sorted, number)),
    [1, 9],
  )
  t.same(distinct(Float64Array.of(3, 1, 3, 2, 1)), from(1, 3))
  t.same(distinct(from(1, 3)), from(1, 3))
})

const words = (count: number, kinds = count): string =>
  Array.from({ length: count }, (_, at) => `woord${at % kinds}`).join(' ')

t.test('a shingle is a run of five words, wherever it stands', async t => {
  const of = (text: string) => [...shinglesAt(copyWords(text))]
  t.same(of(words(4)), [])
  t.equal(of(words(7)).length, 3)
  t.same(of(`iets ${words(5)}`).slice(1), of(words(5)))
  t.equal(new Set(['a b c d e', 'b a c d e', 'a b c e d', 'a b c d f'].flatMap(of)).size, 4)
  t.same(of('a b c d e'), [3_011_622_170_935_006], 'stored samples depend on it')
})

t.test('a text of 60 words and 40 shingles is compared', async t => {
  t.equal(judge(null), null)
  t.equal(judge(words(59)), null)
  t.equal(judge(words(60))?.length, 56)
  t.equal(judge(words(100, 39)), null)
  t.equal(judge(words(100, 40))?.length, 40)
  const agency = 'Bron: ANP'
  t.equal(judge(`${words(59)}\n${agency}\r`), null, 'a line of an agency is no text')
  t.equal(judge(`${words(59)}\n  ©${' '.repeat(194)}JdV\n`), null, '200 characters')
  t.equal(judge(`${words(59)}\n  ©${' '.repeat(195)}JdV\n`)?.length, 56, '201 characters')
})

t.test('a sample has the shingles of the lowest quarter, by their leading bits', async t => {
  const step = 2 ** 51 / 2 ** 32
  const shingles = [0, step - 1, step, 5 * step, 2 ** 51 - 1, 2 ** 51, 2 ** 53 - 1]
  t.same([...sampleOf(Float64Array.from(shingles))], [0, 0, 1, 5, 2 ** 32 - 1])
})

t.test('of a thousand pairs at 0.6 at most one has fewer common hashes', async t => {
  const chanceOf = (least: number, common: number) => {
    let chance = 0.75 ** common
    let sum = 0
    for (let hits = 0; hits < least; hits++) {
      sum += chance
      chance *= (common - hits) / (hits + 1) / 3
    }
    return sum
  }
  for (const shingles of [41, 56, 57, 133, 500, 1_000, 1_666]) {
    const common = Math.ceil(shingles * 0.6)
    const least = leastCommon(shingles)
    t.ok(chanceOf(least, common) <= 0.001, `${shingles}: ${least}`)
    t.ok(chanceOf(least + 1, common) > 0.001, `${shingles}: not fewer than ${least}`)
    t.equal(leastCommon(shingles), least)
  }
  t.same([1, 40, 1_667, 3_000, 4_000].map(leastCommon), [1, 1, 205, 389, 529])
})
