import t from 'tap'
import { mergesDue, nextNew, type Range } from './planning.ts'

const SIZES = { minor: 4n, major: 16n }

const nextRange = (live: Range[], last: bigint) => mergesDue(live, SIZES)[0] ?? nextNew(live, last, SIZES)

/** All ranges that are made while articles come in, one by one. */
function sealAll(last: bigint): Range[] {
  let live: Range[] = []
  for (let newest = 0n; newest <= last; newest++) {
    for (let range = nextRange(live, newest); range !== null; range = nextRange(live, newest)) {
      const { first, last: end } = range
      live = [...live.filter(one => one.first < first || one.last > end), range].sort((a, b) =>
        Number(a.first - b.first),
      )
    }
  }
  return live
}

t.test('segments cover the articles from the first on, each once, large ones where they are full', async t => {
  t.same(sealAll(3n), [])
  t.same(sealAll(4n), [{ first: 1n, last: 4n }])
  t.same(
    sealAll(15n),
    [1n, 5n, 9n].map(first => ({ first, last: first + 3n })),
  )
  t.same(sealAll(16n), [{ first: 1n, last: 16n }])
  t.same(sealAll(41n), [
    { first: 1n, last: 16n },
    { first: 17n, last: 32n },
    { first: 33n, last: 36n },
    { first: 37n, last: 40n },
  ])
})

t.test('an archive that comes at once goes straight into large segments', async t => {
  t.same(nextRange([], 40n), { first: 1n, last: 16n })
  t.same(nextRange([{ first: 1n, last: 16n }], 40n), { first: 17n, last: 32n })
})

t.test('what is new and what becomes one never overlap, so that both may be made at once', async t => {
  const live = [1n, 5n, 9n, 13n, 17n].map(first => ({ first, last: first + 3n }))
  t.same(mergesDue(live, SIZES), [{ first: 1n, last: 16n }])
  t.same(nextNew(live, 40n, SIZES), { first: 21n, last: 24n })
  t.same(mergesDue(live.slice(0, 3), SIZES), [], 'a block that is not full waits for its articles')
  t.same(nextNew(live.slice(0, 3), 40n, SIZES), { first: 13n, last: 16n })
})

t.test('sizes may change: what is larger, or crosses a block, stays as it is', async t => {
  t.equal(nextRange([{ first: 1n, last: 32n }], 33n), null, 'a larger one holds the blocks')
  const crossed = [
    { first: 1n, last: 12n },
    { first: 13n, last: 20n },
  ]
  t.same(nextRange(crossed, 40n), { first: 21n, last: 24n }, 'one crosses two blocks')
  t.same(nextRange([{ first: 1n, last: 6n }], 40n), { first: 7n, last: 8n }, 'the next ends where it would have')
})
