import t from 'tap'
import { wordList } from '../analysis/word-list.ts'
import { TERMS } from '../terms.ts'
import { createSegmentBuilder, type SegmentSource } from './builder.ts'
import { docsOf } from './doc-id-set.ts'
import { bucketOf, readEntries } from './postings.ts'
import { isFrequent, SHINGLES } from './shingles.ts'

t.setTimeout(280_000)

/** As in a text, few words are frequent; the same in every run. */
function createWords(count: number) {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return `w${Math.floor(count ** ((state >>> 0) / 2 ** 32))}`
  }
}

/** The documents of everything that stands in them, by name. */
type Truth = Map<string, Set<number>>

function note(truth: Truth, name: string, doc: number): void {
  const docs = truth.get(name)
  if (docs === undefined) truth.set(name, new Set([doc]))
  else docs.add(doc)
}

// The more documents, the more of them it takes for words side by side to have a list of their own.
for (const [size, enough] of [
  [1_000, 4],
  [16_384, 8],
  [30_000, 14],
] as const) {
  t.test(`a segment of ${size} documents finds words, and words side by side`, async t => {
    const articles = Array.from({ length: size }, (_, doc): SegmentSource => {
      const seq = BigInt(doc + 1)
      return {
        ...{ seq, id: `id${doc}`, published: doc, ingested: doc, publisherNo: 1, authorNos: [] },
        ...{ country: 'NL', language: 'nl' },
      }
    })
    const builder = createSegmentBuilder(articles, 1n)
    const truth: Record<'words' | 'titleWords' | 'pairs' | 'titlePairs' | 'triples', Truth> = {
      ...{ words: new Map(), titleWords: new Map(), pairs: new Map(), titlePairs: new Map(), triples: new Map() },
    }
    const word = createWords(2_000)
    for (let doc = 0; doc < size; doc++) {
      const title = Array.from({ length: 3 }, word)
      const body = Array.from({ length: 9 }, word)
      builder.addWords(BigInt(doc + 1), wordList(title), wordList(body))
      for (const one of title) note(truth.titleWords, one, doc)
      for (const text of [title, body]) {
        text.forEach((one, at) => {
          note(truth.words, one, doc)
          if (at > 0) note(truth.pairs, text.slice(at - 1, at + 1).join(' '), doc)
          if (at > 0 && text === title) note(truth.titlePairs, text.slice(at - 1, at + 1).join(' '), doc)
          if (at > 1) note(truth.triples, text.slice(at - 2, at + 1).join(' '), doc)
        })
      }
    }
    const built = builder.build()
    const blocks = new Map(built.buckets.map(({ bucket, block }) => [bucket, block]))
    const list = (term: string): number[] => {
      const block = blocks.get(bucketOf(term, built.bucketBits))
      const found = block && readEntries(block, [term], size).get(term)
      return found === undefined ? [] : [...docsOf(found)]
    }
    /**
     * Those with a list of their own must have exactly their documents there; those without, at
     * least theirs in a shared one.
     */
    const compare = (what: string, of: Truth, own: (name: string) => string, shared?: (name: string) => string) => {
      const wrong: string[] = []
      const seen = { listed: 0, shared: 0 }
      for (const [name, docs] of of) {
        const found = list(own(name))
        const listed = shared === undefined || docs.size >= enough
        if (listed ? found.join() !== [...docs].join() : found.length > 0) wrong.push(name)
        const others = new Set(listed ? docs : list(shared(name)))
        if ([...docs].some(doc => !others.has(doc))) wrong.push(`${name} (shared)`)
        seen[listed ? 'listed' : 'shared']++
      }
      t.same(wrong, [], `${what}: ${seen.listed} with lists of their own, ${seen.shared} with others'`)
      t.ok(seen.listed > 3 && (shared === undefined || seen.shared > 3), 'enough of either')
    }
    const two = (name: string) => name.split(' ') as [string, string]
    const three = (name: string) => name.split(' ') as [string, string, string]
    compare('words', truth.words, TERMS.word)
    compare('title words', truth.titleWords, TERMS.titleWord)
    compare(
      'pairs',
      truth.pairs,
      name => SHINGLES.pair(...two(name)),
      name => SHINGLES.sharedPair(...two(name)),
    )
    const often = [...truth.titlePairs].filter(([, docs]) => docs.size >= enough)
    compare('title pairs', new Map(often), name => SHINGLES.titlePair(...two(name)))
    const frequent = (pair: string) => isFrequent(truth.pairs.get(pair)!.size, size)
    const looked = [...truth.triples].filter(([name]) => {
      const [first, second, third] = three(name)
      return frequent(`${first} ${second}`) && frequent(`${second} ${third}`)
    })
    compare(
      'three words',
      new Map(looked),
      name => SHINGLES.triple(...three(name)),
      name => SHINGLES.sharedTriple(...three(name)),
    )
  })
}
