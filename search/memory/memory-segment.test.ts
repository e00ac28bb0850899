import t from 'tap'
import { wordList } from '../analysis/index.ts'
import type { SegmentSource } from '../segment/builder.ts'
import { docsOf } from '../segment/doc-id-set.ts'
import { TERMS } from '../terms.ts'
import { createMemorySegment, createTermIds } from './memory-segment.ts'

const article = (seq: bigint, title: string[], body: string[]): [SegmentSource, string, string] => [
  {
    seq,
    id: `id${seq}`,
    published: 0,
    ingested: 0,
    publisherNo: 1,
    authorNos: [2, 3],
    country: 'NL',
    language: 'nl',
  },
  wordList(title),
  wordList(body),
]

t.test('an in-memory segment finds words, however long, stems, filters and phrases', async t => {
  const segment = createMemorySegment(createTermIds())
  const long = 'x'.repeat(300)
  const other = `${'x'.repeat(299)}y`
  segment.add(...article(1n, ['bruggen', long], ['de', 'brug', 'is', 'dicht']))
  segment.add(...article(2n, ['brug'], ['de', 'fiets', 'de', 'brug', other]))
  const found = (term: string) => [...docsOf(segment.list(term))]
  const phrase = (words: string[], scope: 'title' | 'title_body') => [...docsOf(segment.phrase(words, scope, null))]
  t.same(found(TERMS.word(long)), [0])
  t.same(found(TERMS.titleWord(long)), [0])
  t.same(found(TERMS.word(other)), [1])
  t.same(found(TERMS.titleWord(other)), [])
  t.same(found(TERMS.word('brug')), [0, 1])
  t.same(found(TERMS.titleWord('brug')), [1])
  t.same(found(TERMS.titleStem('nl', 'brug')), [0, 1], 'bruggen and brug')
  t.same(found(TERMS.stem('nl', 'fiet')), [1])
  t.same(found(TERMS.stem('nl', 'de')), [], 'a stop word has no stem')
  t.same(found(TERMS.stem('fr', 'fiet')), [], 'a stem is of one language')
  t.same(found(TERMS.author(3)), [0, 1])
  t.same(found(TERMS.country('BE')), [])
  t.same(phrase(['de', 'brug'], 'title_body'), [0, 1])
  t.same(phrase(['de', 'fiets', 'de'], 'title_body'), [1])
  t.same(phrase(['brug', 'de'], 'title_body'), [], 'none spans title and body')
  t.same(phrase(['bruggen', long], 'title'), [0])
  t.same(
    [...docsOf(segment.phrase(['de', 'brug'], 'title_body', segment.list(TERMS.word('fiets'))))],
    [1],
    'within others',
  )
  t.same(phrase([other, 'nooit'], 'title_body'), [])
})
