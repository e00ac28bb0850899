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
 * characters are equal; with `_judged` without the pages whose truth is wrong;
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

/**
 * Pages of html-fundus whose truth was judged wrong against the page as readers see it, by what it
 * leaves out or adds. The figures `…_judged` leave these pages out.
 */
const MISJUDGED: Record<string, 'lists' | 'quotation' | 'box' | 'opening' | 'note'> = {
  'de/Focus_2023_04_28': 'lists',
  'de/Gamestar_2024_04_28': 'lists',
  'de/Hessenschau_2024_04_27': 'box',
  'de/RuhrNachrichten_2024_05_03': 'lists',
  'de/WinFuture_2024_04_29': 'lists',
  'uk/EveningStandard_2024_10_24': 'note',
  'uk/Metro_2024_07_17': 'quotation',
  'uk/Nature_2025_11_04': 'opening',
  'uk/TheIndependent_2024_11_22': 'opening',
  'us/CNBC_2023_04_28': 'opening',
  'us/FoxNews_2023_04_28': 'opening',
}

async function fundus(data: string, textOf: (html: string) => string): Promise<Figures> {
  const pages: { isJudged: boolean; f1: number; isSameStart: boolean }[] = []
  for await (const { file, html, text } of truePages(data, 'fundus')) {
    if (text === null || !('whole' in text)) continue
    const found = textOf(html)
    const isJudged = !(file.replace(/\.html\.gz$/, '') in MISJUDGED)
    pages.push({ isJudged, f1: wordF1(text.whole, found), isSameStart: start(text.whole) === start(found) })
  }
  const figures = (of: typeof pages, ending: string) => ({
    [`text_f1_fundus${ending}`]: rounded(mean(of.map(({ f1 }) => f1)), 4),
    [`snippet_fundus${ending}`]: rounded(of.filter(({ isSameStart }) => isSameStart).length / of.length, 4),
  })
  const judged = pages.filter(({ isJudged }) => isJudged)
  return pages.length === 0 ? {} : { ...figures(pages, ''), ...figures(judged, '_judged') }
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
