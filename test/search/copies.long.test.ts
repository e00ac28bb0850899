import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { copyWords } from '../../shared/copies/shingles.ts'
import { tryCopies } from './copy-histories.ts'

t.setTimeout(3_600_000)
const DATA = new URL('../../../shared/data/', import.meta.url).pathname
const skip = existsSync(DATA) ? false : 'the real texts (../shared/data) are not here'

/** Paragraphs without those that the rules of copies may name. */
const paragraphsOf = (text: string) =>
  text.split(/\n+|(?<=\. )(?=\p{Lu}.{400})/u).filter(one => copyWords(one.trim().slice(0, 200)).length > 0)

t.test('20,000 real and edited texts are in the groups of the definition', { skip }, t => {
  const read = (file: string): Record<string, unknown>[] =>
    gunzipSync(readFileSync(DATA + file))
      .toString()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  const texts = [
    ...read('corpus-be-parliament-2020/be_parliament_2020.jsonl.gz').flatMap(({ nl, fr }) => [nl, fr]),
    ...read('corpus-bbc-2225/bbc.jsonl.gz').map(({ text }) => text),
    ...read('corpus-10kgnad-test/gnad_test.jsonl.gz').map(({ text }) => text),
    ...read('pairs-semeval22/pairs.ndjson.gz').flatMap(({ text1, text2 }) => [text1, text2]),
  ]
  return tryCopies(
    t,
    texts.map(text => paragraphsOf(String(text))),
    20_000,
  )
})
