import t from 'tap'
import { createRandom } from '../../test/faults/random.ts'
import { wordList } from '../analysis/index.ts'
import { type BuiltSegment, createSegmentBuilder, type SegmentSource } from './builder.ts'
import { docsOf } from './doc-id-set.ts'
import { bucketOf, entryStart, readEntry } from './postings.ts'
import { isFrequent, SHINGLES } from './shingles.ts'

t.setTimeout(280_000)

/** As in a text, few words are frequent; the same in every run. */
function createWords(count: number) {
  const { next } = createRandom(1)
  return () => `w${Math.floor(count ** next())}`
}

/** The documents of everything that stands in them, by name. */
type Truth = Map<string, Set<number>>

function note(truth: Truth, name: string, doc: number): void {
  const docs = truth.get(name)
  if (docs === undefined) truth.set(name, new Set([doc]))
  else docs.add(doc)
}

/** A segment of random texts, and what stands in them. */
function buildSegment(size: number) {
  const articles = Array.from({ length: size }, (_, doc): SegmentSource => {
    const seq = BigInt(doc + 1)
    return {
      ...{ seq, id: `id${doc}`, published: doc, ingested: doc, publisherNo: 1, authorNos: [] },
      ...{ country: 'NL', language: 'nl' },
    }
  })
  const builder = createSegmentBuilder(articles, 1n)
  const truth: Record<'pairs' | 'titlePairs' | 'triples', Truth> = {
    ...{ pairs: new Map(), titlePairs: new Map(), triples: new Map() },
  }
  const word = createWords(2_000)
  for (let doc = 0; doc < size; doc++) {
    const title = Array.from({ length: 3 }, word)
    const body = Array.from({ length: 9 }, word)
    builder.addWords(BigInt(doc + 1), wordList(title), wordList(body))
    for (const pair of runs(title, 2)) note(truth.titlePairs, pair, doc)
    for (const text of [title, body]) {
      for (const pair of runs(text, 2)) note(truth.pairs, pair, doc)
      for (const triple of runs(text, 3)) note(truth.triples, triple, doc)
    }
  }
  return { truth, list: listsOf(builder.build(), size) }
}

/** So many neighbouring words, from each word on. */
const runs = (text: string[], length: number) =>
  text.slice(length - 1).map((_, at) => text.slice(at, at + length).join(' '))

/** The posting list of a term, empty where it has none. */
function listsOf({ buckets, bucketBits }: BuiltSegment, size: number): (term: string) => number[] {
  const blocks = new Map(buckets.map(({ bucket, block }) => [bucket, block]))
  return term => {
    const block = blocks.get(bucketOf(term, bucketBits))
    const found = block && readEntry(block, entryStart(term), size)
    return found === undefined ? [] : [...docsOf(found)]
  }
}

interface Terms {
  own(name: string): string
  /** The term that a name without a list of its own shares with others; absent: all have one. */
  shared?(name: string): string
  /** So many documents make a list. */
  enough: number
}

/**
 * Names with a list of their own must have exactly their documents there; the others, at least
 * theirs in a shared list.
 */
function compareLists(list: (term: string) => number[], truth: Truth, { own, shared, enough }: Terms) {
  const wrong: string[] = []
  const seen = { listed: 0, shared: 0 }
  for (const [name, docs] of truth) {
    const found = list(own(name))
    if (shared === undefined || docs.size >= enough) {
      seen.listed++
      if (found.join() !== [...docs].join()) wrong.push(name)
    } else {
      seen.shared++
      const others = new Set(list(shared(name)))
      if (found.length > 0 || [...docs].some(doc => !others.has(doc))) wrong.push(`${name} (shared)`)
    }
  }
  return { wrong, ...seen }
}

function two(name: string) {
  const [first = '', second = ''] = name.split(' ')
  return [first, second] as const
}

function three(name: string) {
  const [first = '', second = '', third = ''] = name.split(' ')
  return [first, second, third] as const
}

// The more documents, the more of them it takes for words side by side to have a list of their own.
for (const [size, enough] of [
  [1_000, 4],
  [30_000, 14],
] as const) {
  t.test(`a segment of ${size} documents finds words side by side`, async t => {
    const { truth, list } = buildSegment(size)
    const compare = (what: string, of: Truth, terms: Omit<Terms, 'enough'>) => {
      const { wrong, listed, shared } = compareLists(list, of, { ...terms, enough })
      t.same(wrong, [], `${what}: ${listed} with lists of their own, ${shared} with others'`)
      t.ok(listed > 3 && (terms.shared === undefined || shared > 3), 'enough of either')
    }
    compare('pairs', truth.pairs, {
      own: name => SHINGLES.pair(...two(name)),
      shared: name => SHINGLES.sharedPair(...two(name)),
    })
    const often = [...truth.titlePairs].filter(([, docs]) => docs.size >= enough)
    compare('title pairs', new Map(often), { own: name => SHINGLES.titlePair(...two(name)) })
    const frequent = (pair: string) => isFrequent(truth.pairs.get(pair)!.size, size)
    const indexed = [...truth.triples].filter(([name]) => {
      const [first, second, third] = three(name)
      return frequent(`${first} ${second}`) && frequent(`${second} ${third}`)
    })
    compare('triples', new Map(indexed), {
      own: name => SHINGLES.triple(...three(name)),
      shared: name => SHINGLES.sharedTriple(...three(name)),
    })
  })
}
