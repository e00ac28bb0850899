import t from 'tap'
import { samePage } from './main.ts'

// Four articles in the order of publication. 2 and 3 have the same time.
const published = ['', null, '10', '10', '20']
const page = (...numbers: number[]) =>
  numbers.map(number => ({
    id: `${number}`,
    published_at: published[number] ?? null,
    ingested_at: `${9 - number}`,
  }))

for (const [ours, theirs, axis, same, why] of [
  [[4, 3, 2], [4, 3, 2], 'published_at', true, 'the same page'],
  [[], [], 'published_at', true, 'no articles'],
  [[4, 3, 2], [4, 3], 'published_at', false, 'one is missing'],
  [[4, 1], [4, 3], 'published_at', false, 'another article'],
  [[4, 3, 1], [3, 4, 1], 'published_at', false, 'another order'],
  [[4, 3], [4, 4], 'published_at', false, 'the same article twice'],
  [[4, 3, 2], [4, 2, 3], 'published_at', true, 'another order of one moment'],
  [[4, 3], [4, 2], 'published_at', true, 'another choice at the end'],
  [[3, 2], [2, 3], 'ingested_at', false, 'no two were ingested at one moment'],
] as const) {
  t.equal(samePage(page(...ours), page(...theirs), axis), same, why)
}
const [shown] = page(4)
t.notOk(
  samePage([shown!], [{ ...shown!, ingested_at: '0' }], 'published_at'),
  'a row that shows something else',
)
