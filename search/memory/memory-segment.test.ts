import t from 'tap'
import { wordList } from '../analysis/word-list.ts'
import { type DocSet, docsOf } from '../segment/doc-id-set.ts'
import { LEXEMES } from '../terms.ts'
import { createChunk, type FreshArticle } from './memory-segment.ts'
import { createLexicon } from './term-ids.ts'

const article = (seq: bigint, title: string[], body: string[]): FreshArticle => ({
  seq,
  id: `id${seq}`,
  published: 0,
  ingested: 0,
  publisherNo: 1,
  authorNos: [2, 3],
  country: 'NL',
  language: 'nl',
  title: wordList(title),
  body: wordList(body),
})

for (const listed of [0, 1, 2]) {
  t.test(
    `a chunk of which the words of ${listed} are listed finds words, however long, stems, filters and phrases`,
    async t => {
      const chunk = createChunk(createLexicon())
      const long = 'x'.repeat(300)
      const other = `${'x'.repeat(299)}y`
      chunk.add(article(1n, ['bruggen', long], ['de', 'brug', 'is', 'dicht']))
      chunk.add(article(2n, ['brug'], ['de', 'fiets', 'de', 'brug', other]))
      for (let one = 0; one < listed; one++) t.equal(chunk.listNext(), true)
      const found = (lexeme: string) => [...docsOf(chunk.list(lexeme))]
      const phrase = (words: string[], scope: 'title' | 'title_body') => [...docsOf(chunk.phrase(words, scope, null))]
      t.same(found(LEXEMES.word(long)), [0])
      t.same(found(LEXEMES.titleWord(long)), [0])
      t.same(found(LEXEMES.word(other)), [1])
      t.same(found(LEXEMES.titleWord(other)), [])
      t.same(found(LEXEMES.word('brug')), [0, 1])
      t.same(found(LEXEMES.titleWord('brug')), [1])
      t.same(found(LEXEMES.titleStem('nl', 'brug')), [0, 1], 'bruggen and brug')
      t.same(found(LEXEMES.stem('nl', 'fiet')), [1])
      t.same(found(LEXEMES.stem('nl', 'de')), [], 'a stop word has no stem')
      t.same(found(LEXEMES.stem('fr', 'fiet')), [], 'a stem is of one language')
      t.same(found(LEXEMES.author(3)), [0, 1])
      t.same(found(LEXEMES.country('BE')), [])
      t.same(phrase(['de', 'brug'], 'title_body'), [0, 1])
      t.same(phrase(['de', 'fiets', 'de'], 'title_body'), [1])
      t.same(phrase(['brug', 'de'], 'title_body'), [], 'none spans title and body')
      t.same(phrase(['bruggen', long], 'title'), [0])
      t.same(
        [...docsOf(chunk.phrase(['de', 'brug'], 'title_body', chunk.list(LEXEMES.word('fiets'))))],
        [1],
        'among others',
      )
      t.same(phrase([other, 'nooit'], 'title_body'), [])
      if (listed === 2) t.equal(chunk.listNext(), false, 'all are listed')
    },
  )
}

t.test('however many articles come before any is listed, they are found', async t => {
  const chunk = createChunk(createLexicon())
  const some = (n: number) => ((n * 7_919) % 97) % 13
  const bodyOf = (n: number) => [`woord${some(n)}`, n % 4 === 0 ? 'bruggen' : 'fietsen', `nieuw${n}`, 'de']
  const found = (lexeme: string) => [...docsOf(chunk.list(lexeme))]
  for (let n = 0; n < 1_000; n++) {
    chunk.add(article(BigInt(n + 1), [n % 5 === 3 ? 'titels' : 'kop'], bodyOf(n)))
    // All are listed now and then, some in between, and searches come at any time.
    if (n % 300 === 299) while (chunk.listNext());
    if (n % 7 === 0) chunk.listNext()
    if (n % 10 !== 0) continue
    const numbers = Array.from({ length: n + 1 }, (_, number) => number)
    const one = n % 13
    t.same(
      found(LEXEMES.word(`woord${one}`)),
      numbers.filter(number => some(number) === one),
    )
    const fourths = numbers.filter(number => number % 4 === 0)
    if (n % 3 === 0) t.same(found(LEXEMES.stem('nl', 'brug')), fourths)
    const third = numbers.filter(number => number % 5 === 3)
    t.same(found(LEXEMES.titleWord('titels')), third)
    if (n % 4 === 0) t.same(found(LEXEMES.titleStem('nl', 'titel')), third)
    t.same([...docsOf(chunk.phrase(['bruggen', `nieuw${n - (n % 4)}`], 'title_body', null))], [n - (n % 4)])
  }
})

t.test('a phrase that was looked for is found in what came since, and among others', async t => {
  const chunk = createChunk(createLexicon())
  const stands = (n: number) => n % 3 === 0
  const inTitle = (n: number) => n % 6 === 0
  const found = (words: string[], scope: 'title' | 'title_body', among: DocSet | null = null) => [
    ...docsOf(chunk.phrase(words, scope, among)),
  ]
  for (let n = 0; n < 900; n++) {
    const side = stands(n) ? ['de', 'brug'] : ['brug', 'de']
    chunk.add(
      article(BigInt(n + 1), inTitle(n) ? side : ['kop'], [...side, n % 10 < 5 ? 'fiets' : 'auto', `soort${n % 200}`]),
    )
    if (n % 90 !== 89) continue
    const numbers = Array.from({ length: n + 1 }, (_, number) => number)
    t.same(found(['de', 'brug'], 'title_body'), numbers.filter(stands))
    t.same(found(['de', 'brug'], 'title'), numbers.filter(inTitle))
    t.same(
      found(['brug', 'de'], 'title_body'),
      numbers.filter(number => !stands(number)),
    )
    const [many, few] = [chunk.list(LEXEMES.word('fiets')), chunk.list(LEXEMES.word('soort3'))]
    t.same(
      found(['de', 'brug'], 'title_body', many),
      numbers.filter(number => stands(number) && number % 10 < 5),
    )
    t.same(
      found(['de', 'brug'], 'title_body', few),
      numbers.filter(number => stands(number) && number % 200 === 3),
    )
    // Others push it out of memory.
    if (n % 180 !== 179) continue
    for (let other = 2; other < 150; other++) t.same(found(Array(other).fill('de'), 'title_body'), [])
  }
})
