import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { areCopies, copyWords, judge } from '#shared/copies/shingles'
import { tryCopies } from './copy-histories.ts'
import lookAlikes from './look-alikes.json' with { type: 'json' }

t.setTimeout(3_600_000)
const DATA = new URL('../../../shared/data/', import.meta.url).pathname
const skip = existsSync(DATA) ? false : 'the real texts (../shared/data) are not here'

/** Real texts by the names that the judgements give them. */
function readTexts(): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [file, name] of [
    ['pairs-semeval22/pairs.ndjson.gz', 'semeval'],
    ['corpus-bbc-2225/bbc.jsonl.gz', 'bbc'],
    ['corpus-10kgnad-test/gnad_test.jsonl.gz', '10kgnad'],
    ['corpus-be-parliament-2020/be_parliament_2020.jsonl.gz', 'be2020'],
    ['corpus-be-parliament-2017/be_parliament_2017.jsonl.gz', 'be2017'],
  ] as const) {
    for (const line of gunzipSync(readFileSync(DATA + file))
      .toString()
      .trim()
      .split('\n')) {
      const { pair_id, i, id = pair_id ?? i, ...fields }: Record<string, string> = JSON.parse(line)
      for (const [field, end] of Object.entries({
        text: '',
        text1: '/1',
        text2: '/2',
        nl: '/nl',
        fr: '/fr',
      }))
        if (fields[field] !== undefined) texts.set(`${name} ${id}${end}`, fields[field])
    }
  }
  return texts
}

t.test('of pairs that people have judged, those that are told are one text', { skip }, async t => {
  const texts = readTexts()
  const judged = readFileSync(new URL('copies.tsv', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split('\t'))
    .map(([a = '', b = '', verdict]) => ({
      of: [a, b],
      bodies: [texts.get(a), texts.get(b)],
      isSame: verdict === 'same',
    }))
    // Reuters-21578 and the news of several outlets are not among the texts here.
    .filter(({ bodies }) => bodies.every(one => one !== undefined))
  for (const [name, form] of Object.entries(lookAlikes)) {
    const edition = (n: number) =>
      form.replace(/\{(.*?)\}/g, (_, parts: string) => parts.split('|')[n]!)
    for (const [a, b] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const)
      judged.push({ of: [name, name], bodies: [edition(a), edition(b)], isSame: false })
  }
  t.ok(
    judged.length >= 300,
    `${judged.length} judged; reuters21578, gilets-jaunes, article-bias: no texts here`,
  )
  for (const isOneOutlet of [false, true]) {
    const told = judged.filter(({ bodies: [a, b] }) =>
      areCopies(judge(a!)!, judge(b!)!, isOneOutlet),
    )
    for (const isForm of [true, false]) {
      const own = told.filter(({ of: [a] }) => /^be20/.test(a!) === isForm)
      const wrong = own.filter(({ isSame }) => !isSame)
      const kind = `${isForm ? 'questions of a parliament' : 'news and look-alikes'}${isOneOutlet ? ' of one outlet' : ''}`
      t.ok(
        wrong.length <= (isForm ? 0.2 * own.length : 1),
        `${kind}: ${wrong.length} of ${own.length} wrong`,
      )
    }
  }
})

/** Paragraphs without those that the rules of copies may name. */
const paragraphsOf = (text: string) =>
  text
    .split(/\n+|(?<=\. )(?=\p{Lu}.{400})/u)
    .filter(one => copyWords(one.trim().slice(0, 200)).length > 0)

t.test('20,000 real and edited texts are in the groups of the definition', { skip }, t =>
  tryCopies(t, [...readTexts().values()].map(paragraphsOf), 20_000),
)
