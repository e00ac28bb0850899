import t from 'tap'
import { createRandom } from '../../test/faults/random.ts'
import { isWhole } from '../../test/script.ts'
import { wordList } from '../analysis/index.ts'
import { type BuiltSegment, createSegmentBuilder, type SegmentSource } from './builder.ts'
import { docsOf } from './doc-id-set.ts'
import { openNgramThread } from './ngram-thread.ts'
import { isFrequent, NGRAM_RULE, NGRAMS } from './ngrams.ts'
import { bucketOf, entryStart, readEntry } from './postings.ts'
import { createVocabulary, type Vocabulary } from './word-ids.ts'

/** Makes random words. As in a text, few words are frequent. Every run gets the same words. */
function createWords(count: number) {
  const { next } = createRandom(1)
  return () => `w${Math.floor(count ** next())}`
}

/** By word or group of words: the documents that have it. */
type Truth = Map<string, number[]>

function note(truth: Truth, name: string, doc: number): void {
  const docs = truth.get(name)
  if (docs === undefined) truth.set(name, [doc])
  else if (docs.at(-1) !== doc) docs.push(doc)
}

interface Texts {
  title: string[]
  body: string[]
}

/** Makes a builder with random texts. */
function fillBuilder(
  size: number,
  length: number,
  options: { rule?: number; vocabulary?: Vocabulary } = {},
) {
  const articles = Array.from({ length: size }, (_, doc): SegmentSource => {
    const seq = BigInt(doc + 1)
    return {
      seq,
      id: `id${doc}`,
      published: doc,
      ingested: doc,
      publisherNo: 1,
      authorNos: [],
      country: 'NL',
      language: 'nl',
      section: doc % 3 === 0 ? null : `S${doc % 7}`,
      kind: doc % 2 === 0 ? 'news' : null,
      access: null,
    }
  })
  const builder = createSegmentBuilder(articles, 1n, options)
  const word = createWords(2_000)
  const texts = Array.from({ length: size }, (_, doc): Texts => {
    const title = Array.from({ length: 3 }, word)
    const body = Array.from({ length }, word)
    builder.addWords(BigInt(doc + 1), wordList(title), wordList(body))
    return { title, body }
  })
  return { builder, texts }
}

/** The words and groups of words that texts have. */
function truthOf(texts: Texts[]) {
  const truth: Record<'words' | 'pairs' | 'titlePairs' | 'triples', Truth> = {
    words: new Map(),
    pairs: new Map(),
    titlePairs: new Map(),
    triples: new Map(),
  }
  for (const [doc, { title, body }] of texts.entries()) {
    for (const pair of runs(title, 2)) note(truth.titlePairs, pair, doc)
    for (const text of [title, body]) {
      for (const word of text) note(truth.words, word, doc)
      for (const pair of runs(text, 2)) note(truth.pairs, pair, doc)
      for (const triple of runs(text, 3)) note(truth.triples, triple, doc)
    }
  }
  return truth
}

/** All groups of `length` neighbouring words. */
const runs = (text: string[], length: number) =>
  text.slice(length - 1).map((_, at) => text.slice(at, at + length).join(' '))

/** The posting list of a term; empty where it has none. */
function listsOf({ buckets, bucketBits }: BuiltSegment, size: number): (term: string) => number[] {
  const blocks = new Map(buckets.map(({ bucket, block }) => [bucket, block]))
  return term => {
    const block = blocks.get(bucketOf(term, bucketBits))
    const found = block && readEntry(block, entryStart(term), size)
    return found === undefined ? [] : [...docsOf(found)]
  }
}

// The more documents a segment has, the more of them must have a pair that gets a list of its own.
// The exception is a pair of words that are so frequent that they meet by chance.
const SIZES = [
  { size: 1_000, body: 9, rule: 0, enough: 4, met: Infinity },
  { size: 30_000, body: 9, rule: 0, enough: 14, met: Infinity },
  { size: 1_000, body: isWhole ? 300 : 240, rule: NGRAM_RULE, enough: 4, met: 512 },
  { size: 41_000, body: 9, rule: 1, enough: 5, met: 512 },
  { size: 21_000, body: 9, rule: NGRAM_RULE, enough: 5, met: 512 },
]
const { SIZE = '1000' } = process.env
for (const { size, body, rule, enough, met } of SIZES.filter(
  ({ size }) => isWhole || size === Number(SIZE),
)) {
  t.test(`a segment of ${size} documents finds words side by side, by rule ${rule}`, async t => {
    const { texts, builder } = fillBuilder(size, body, { rule })
    const truth = truthOf(texts)
    const list = listsOf(await builder.build(), size)
    const sizeOf = (word: string) => truth.words.get(word)!.length
    const frequent = (pair: string) => isFrequent(truth.pairs.get(pair)!.length, size)
    const meets = ([first = '', second = '']: string[]) =>
      sizeOf(first) * sizeOf(second) >= met * size
    const isTerm = (pair: string) =>
      truth.pairs.get(pair)!.length >= enough || meets(pair.split(' '))
    const wrong: string[] = []
    const seen = { own: 0, met: 0, shared: 0 }
    /**
     * Checks that a group in enough documents has a list of its own with exactly these documents.
     * The documents of any other group must be in a shared list.
     */
    const check = (docs: number[], own: string, shared: string | null, isMet = false) => {
      const isListed = docs.length >= enough || isMet
      seen[isListed ? (docs.length < enough ? 'met' : 'own') : 'shared']++
      const others = isListed || shared === null ? null : new Set(list(shared))
      if (
        list(own).join() !== (isListed ? docs.join() : '') ||
        docs.some(doc => others !== null && !others.has(doc))
      )
        wrong.push(own)
    }
    for (const [pair, docs] of truth.pairs) {
      const [first = '', second = ''] = pair.split(' ')
      check(
        docs,
        NGRAMS.pair(first, second),
        NGRAMS.sharedPair(first, second),
        meets([first, second]),
      )
    }
    for (const [pair, docs] of truth.titlePairs) {
      const [first = '', second = ''] = pair.split(' ')
      if (docs.length >= enough) check(docs, NGRAMS.titlePair(first, second), '')
    }
    t.ok(
      seen.own > 6 && seen.shared > 3,
      `${seen.own} pairs with lists of their own, ${seen.shared} with others'`,
    )
    t.ok(
      body < 240 || seen.met > 3,
      `${seen.met} pairs with lists of their own because their words meet often`,
    )
    Object.assign(seen, { own: 0, shared: 0 })
    for (const [triple, docs] of truth.triples) {
      const [first = '', second = '', third = ''] = triple.split(' ')
      const pairs = [`${first} ${second}`, `${second} ${third}`]
      const own = NGRAMS.triple(first, second, third)
      const shared = NGRAMS.sharedTriple(first, second, third)
      if (pairs.every(rule > 0 ? isTerm : frequent))
        check(docs, own, pairs.every(frequent) ? shared : null)
    }
    t.ok(
      seen.own > 2 && seen.shared > 2,
      `${seen.own} triples with lists of their own, ${seen.shared} with others'`,
    )
    t.same(wrong, [])
  })
}

t.test(
  'a segment is the same when a thread of its own makes its n-grams, each for its own question',
  async t => {
    const thread = openNgramThread()
    const sizes = [300, 2_000]
    const built = await Promise.all(sizes.map(size => fillBuilder(size, 30).builder.build(thread)))
    for (const [at, size] of sizes.entries())
      t.same(built[at], await fillBuilder(size, 30).builder.build())
  },
)

t.test('a segment is the same whatever terms its vocabulary has already', async t => {
  const vocabulary = createVocabulary()
  const others = Array.from({ length: 3_000 }, (_, n) => `w${3_000 - n}`)
  vocabulary.words.read(wordList(others), vocabulary.ofWord)
  for (const size of [2_000, 300]) {
    const own = await fillBuilder(size, 30).builder.build()
    t.same(await fillBuilder(size, 30, { vocabulary }).builder.build(), own, `${size} documents`)
    // The next marks begin anew.
    vocabulary.marks(2 ** 31 - 1 - size)
  }
})
