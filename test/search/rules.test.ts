import { hash } from 'node:crypto'
import t from 'tap'
import {
  foldName,
  listedStopWords,
  NAME_RULES,
  SNIPPET_RULES,
  stem,
  WORD_RULES,
  wordListOf,
} from '#search/analysis/index'
import { snippetOf } from '#search/analysis/text'
import { ANALYSIS, documentOf, indexBody } from '#search/archive/writer'
import { authorId } from '#search/indexer'
import { ADDRESS_RULES, addressKey } from '#shared/articles/address'
import { AGENCY_RULES, agenciesOf, agencyEvidence } from '#shared/articles/agencies'
import { LANGUAGES } from '#shared/articles/article'
import { areCopies, judge, RULES, sampleOf } from '#shared/copies/shingles'
import { articleVector, passagesOf, RECIPE } from '#shared/embeddings/recipe'
import { read } from '#test/docs/checkout'

/*
 * What is derived from articles and stored bears the version of its rules. So rules that derive
 * something else of the same texts need another version, and a start renews what is stored.
 */

/** `digests`: by name and version, the digest of all that these rules derive of the rest. */
const corpus = JSON.parse(read('test/search/rules.json')) as Record<
  'texts' | 'authors' | 'names' | 'addresses' | 'parameters',
  string[]
> & { digests: Record<string, string> }
const { texts, names, authors } = corpus

/** Each character of the scripts of Europe and of the signs, alone and before a letter. */
const characters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code))
const ROOTS = ['gemeent', 'brug', 'regering', 'schleus', 'nation', 'verzwickl', 'écol', 'walk']
const ENDINGS = ['', 'e', 'en', 'er', 's', 'es', 'ement', 'ung', 'ungen', 'ing', 'tion', 'heid']
const vocabulary = [
  ...ROOTS.flatMap(root => ENDINGS.map(ending => root + ending)),
  ...texts.flatMap(text => wordListOf(text).split('\n')),
]
const long = texts.map(text => `${text}\n\n`.repeat(20))
const shingles = long.map(judge)
const document = (title: string, at: number) =>
  documentOf(
    {
      seq: BigInt(at + 1),
      id: `id${at}`,
      published: at % 2 === 0 ? null : at * 1_000,
      ingested: at,
      country: 'BE',
      language: LANGUAGES[at % LANGUAGES.length]!,
      publisherNo: 1,
      authorNos: at % 3 === 0 ? [] : [2],
      section: null,
      kind: null,
      access: null,
    },
    { seq: BigInt(at + 1), title: wordListOf(title), body: wordListOf(long[at] ?? '') },
    {
      outlet: () => ({ name: names[at % names.length]!, domain: 'nieuws.example' }),
      author: () => ({ id: 'a', name: authors[at % authors.length]! }),
    },
  )

const derived: Record<string, [version: number, values: unknown]> = {
  words: [
    WORD_RULES,
    [
      [...texts, ...characters.map(one => `${one} a${one}b`)].map(wordListOf),
      LANGUAGES.map(language => [
        listedStopWords(language),
        vocabulary.map(word => stem(language, word)),
      ]),
    ],
  ],
  names: [NAME_RULES, [...names, ...texts, ...characters.map(one => `a${one}b`)].map(foldName)],
  snippets: [
    SNIPPET_RULES,
    [...texts, ...long, ' '].map(text => [snippetOf(text), snippetOf(text, 47)]),
  ],
  addresses: [
    ADDRESS_RULES,
    [
      ...corpus.addresses,
      ...corpus.parameters.flatMap(name =>
        ['rss', '12'].map(value => `https://nieuws.example/a?${name}=${value}&b=1`),
      ),
    ].map(addressKey),
  ],
  agencies: [
    AGENCY_RULES,
    [...texts, null].map(body =>
      authors.map(author => agenciesOf(agencyEvidence({ authors: [author], body }))),
    ),
  ],
  copies: [
    RULES,
    [
      shingles.map(set => set && [[...set], [...sampleOf(set)]]),
      shingles.map(a => shingles.map(b => a && b && areCopies(a, b, false))),
    ],
  ],
  archive: [ANALYSIS, [indexBody({ shards: 1, replicas: 0 }), texts.map(document)]],
  vectors: [
    RECIPE,
    long.map(body => {
      const passages = passagesOf({ title: texts[0]!, body })
      const vectors = passages.map((_, at) => [1, at, 2])
      return [passages, articleVector(passages, vectors)]
    }),
  ],
  // Visible ids never change (decisions 24 and 35), so there is no second version of these rules.
  ids: [1, names.map(name => authorId('nieuws.example', name))],
}

for (const [name, [version, values]] of Object.entries(derived))
  t.test(`the rules of ${name}, version ${version}, derive what they always did`, async t => {
    const digest = hash('sha256', JSON.stringify(values))
    t.equal(
      digest,
      corpus.digests[`${name} ${version}`],
      'raise their version, say in renew.ts how it is brought along, and note its digest',
    )
  })
