import t from 'tap'
import { createRandom } from '../../test/faults/random.ts'
import { wildcardTest } from '../analysis/wildcard.ts'
import {
  createWordSet,
  decodeLexicon,
  encodeLexicon,
  FIRST_WORD,
  isWord,
  LEXICON_BUCKET,
  lexiconOfTerms,
  needleOf,
} from './lexicon.ts'

const random = createRandom(Number(process.env.SEED ?? 1))
const LETTERS = [...'abé漢𝒳']
const someWord = () =>
  Array.from({ length: 1 + random.below(6) }, () => random.pick(LETTERS)).join('')

const linesOf = (words: string[]) =>
  decodeLexicon(Buffer.concat(encodeLexicon(words).map(({ block }) => block)))

t.test('the words of a lexicon come back, also over several blocks', async t => {
  t.same(encodeLexicon([]), [])
  const words = Array.from({ length: 60_000 }, (_, at) => `woord${(at * 7_919) % 60_000}`)
  const blocks = encodeLexicon(words)
  t.ok(blocks.length > 1 && blocks.length < 9, `${blocks.length}`)
  const lines = linesOf(words)
  t.same(lines.toString(), `\n${words.join('\n')}\n`)
  const set = createWordSet()
  let added = 0
  for (let at = 0; at < lines.length - 1; added++) at = set.add(lines, at)
  t.ok(added > 9, 'a large lexicon is added in steps')
  for (const wildcard of ['*99', '*oord*']) {
    const found: string[] = []
    let steps = 0
    for (let at = FIRST_WORD; at < set.end(); steps++)
      at = set.find(needleOf(wildcard), at, word => found.push(word))
    t.ok(steps > 1 && steps < 9, 'a large set is looked at in steps')
    t.equal(`${found.sort()}`, `${words.filter(wildcardTest(wildcard)).sort()}`)
  }
})

t.test('a set finds the words of a wildcard as a look at each word does', async t => {
  const set = createWordSet()
  const all = new Set<string>()
  for (let round = 0; round < 6; round++) {
    const added = Array.from({ length: 8_000 }, someWord)
    for (const word of added) all.add(word)
    const lines = linesOf([...new Set(added)])
    for (let at = 0; at < lines.length - 1; ) at = set.add(lines, at)
    for (let asked = 0; asked < 40; asked++) {
      const letters = someWord()
      const wildcard = random.pick([`${letters}*`, `*${letters}`, `*${letters}*`])
      const found: string[] = []
      for (let at = FIRST_WORD; at < set.end(); )
        at = set.find(needleOf(wildcard), at, word => found.push(word))
      const wanted = [...all].filter(wildcardTest(wildcard))
      t.same(found.sort(), wanted.sort(), wildcard)
    }
  }
  t.ok(set.bytes() > 0)
})

t.test('the words of a dictionary of terms are those of whole texts', async t => {
  const terms = ['brug', 'Tbrug', 'Snbrug', 'Unbrug', '#f00', 'T#f00', 'Cnl', 'é', '12']
  t.same(terms.filter(isWord), ['brug', 'é', '12'])
  t.same(['@', 'A', 'Z', '[', '#'].filter(isWord), ['@', '['], 'prefixes of terms are capitals')
  const blocks = terms.map((term, at) => {
    const bytes = Buffer.from(term)
    return Buffer.from([bytes.length, ...bytes, at, ...Array(at).fill(7)])
  })
  t.equal(lexiconOfTerms(Buffer.concat(blocks)).toString(), '\nbrug\né\n12\n')
  t.equal(lexiconOfTerms(Buffer.of()).toString(), '\n')
  t.ok(LEXICON_BUCKET >= 65_536, 'the buckets before it are those of dictionaries')
})

t.test('a damaged lexicon is no lexicon', async t => {
  t.throws(() => createWordSet().add(Buffer.from('\na\nb'), 0), /line break/)
  t.throws(() => decodeLexicon(Buffer.from('x')))
})
