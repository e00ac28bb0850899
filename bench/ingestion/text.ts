import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parsePage } from '../../services/normaliser/markup/tree.ts'
import { readPageText } from '../../services/normaliser/text/page-text.ts'
import { SNIPPET_LENGTH } from '../../shared/articles/snippet.ts'
import { decodeText } from '../../shared/encoding/decode.ts'
import { type Figures, mean, rounded, say } from '../figures.ts'
import { meanF1, sharesOf, spaced, wordF1 } from './scores.ts'
import { type TruePage, truePages } from './truth.ts'

/**
 * Extracted texts against the texts that people marked or copied on the same pages:
 * - `text_f1_aeb`: html-aeb by its own method, runs of four words;
 * - `text_f1_fundus`: html-fundus, mean F1 of words; `snippet_fundus`: pages whose first 200
 * characters are equal;
 * - `text_f1_trafilatura`: html-trafilatura, F1 over pieces that belong to the text and pieces that
 * do not;
 * - `text_cpu_ms`: processor time of one page, all threads of the runtime included.
 */
export async function measureText(data: string): Promise<Figures> {
  const before = process.cpuUsage()
  const counted = { pages: 0 }
  const textOf = (html: string) => {
    counted.pages += 1
    return readPageText(parsePage(html)).paragraphs.join('\n\n')
  }
  const figures = {
    ...(await aeb(data, textOf)),
    ...(await fundus(data, textOf)),
    ...(await trafilatura(data, textOf)),
  }
  const used = process.cpuUsage(before)
  if (counted.pages === 0) return figures
  return { ...figures, text_cpu_ms: rounded((used.user + used.system) / 1_000 / counted.pages, 1) }
}

/**
 * The pages of html-aeb. When the set is absent, it yields none and says so on standard error.
 */
async function* aebPages(data: string): AsyncGenerator<TruePage> {
  const folder = join(data, 'html-aeb')
  const truths = await access(join(folder, 'ground-truth.json.gz')).then(
    async () => JSON.parse(gunzipSync(await readFile(join(folder, 'ground-truth.json.gz'))).toString()),
    () => null,
  )
  if (truths === null) {
    say(`skipped: no set html-aeb in ${data}`)
    return
  }
  for (const [file, truth] of Object.entries<{ articleBody: string; url: string }>(truths)) {
    const bytes = gunzipSync(await readFile(join(folder, 'html', `${file}.html.gz`)))
    const html = decodeText(bytes, { contentType: null, kind: 'html' }).text
    const text = { whole: truth.articleBody }
    yield { set: 'aeb', file, url: truth.url, html, title: null, date: null, authors: null, text }
  }
}

async function aeb(data: string, textOf: (html: string) => string): Promise<Figures> {
  const shares = []
  for await (const { html, text } of aebPages(data)) {
    if (text !== null && 'whole' in text) shares.push(sharesOf(text.whole, textOf(html), 4))
  }
  return shares.length === 0 ? {} : { text_f1_aeb: rounded(meanF1(shares), 4) }
}

async function fundus(data: string, textOf: (html: string) => string): Promise<Figures> {
  const scores: number[] = []
  let snippets = 0
  for await (const { html, text } of truePages(data, 'fundus')) {
    if (text === null || !('whole' in text)) continue
    const found = textOf(html)
    scores.push(wordF1(text.whole, found))
    if (start(text.whole) === start(found)) snippets += 1
  }
  return scores.length === 0
    ? {}
    : { text_f1_fundus: rounded(mean(scores), 4), snippet_fundus: rounded(snippets / scores.length, 4) }
}
/** The first 200 characters. */
const start = (text: string) => [...spaced(text)].slice(0, SNIPPET_LENGTH).join('').trimEnd()

async function trafilatura(data: string, textOf: (html: string) => string): Promise<Figures> {
  let [right, missed, wrong] = [0, 0, 0]
  for await (const { html, text } of truePages(data, 'trafilatura')) {
    if (text === null || !('with' in text)) continue
    const counted = piecesIn(text, textOf(html))
    right += counted.right
    missed += counted.missed
    wrong += counted.wrong
  }
  return right === 0 ? {} : { text_f1_trafilatura: rounded((2 * right) / (2 * right + missed + wrong), 4) }
}

/**
 * The pieces of a page's text that were found, those that were not, and those that do not belong to
 * it.
 */
function piecesIn(text: { with: string[]; without: string[] }, found: string) {
  const all = spaced(found)
  const right = text.with.filter(piece => all.includes(spaced(piece))).length
  const wrong = text.without.filter(piece => all.includes(spaced(piece))).length
  return { right, missed: text.with.length - right, wrong }
}
