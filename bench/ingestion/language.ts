import { readdir, readFile } from 'node:fs/promises'
import { type Figures, percent } from '#bench/figures'
import { readSet } from '#bench/json-lines'
import { foldWord, stem } from '#search/analysis/index'
import { detectLanguage } from '#services/normaliser/languages/detection'
import { LANGUAGES, type Language } from '#shared/articles/article'

type Row = Record<string, string>

/**
 * Accuracy in percent, by test set and language. The texts are titles (60 characters of news,
 * headlines or example sentences) and texts of 200 characters. Further figures are the shares of
 * texts in other languages that we refuse. The outlet may publish in all five languages, so that
 * its languages do not help. With `_other_outlet`, the outlet's languages do not include the text's
 * language.
 */
export async function measureLanguage(data: string): Promise<Figures> {
  const figures: Figures = {}
  const measure = async (
    figure: string,
    language: Language,
    texts: string[],
    outletLanguages = [...LANGUAGES],
  ) => {
    const right = await countDetected(texts, language, outletLanguages)
    if (texts.length > 0) figures[`language_${figure}`] = percent(right, texts.length)
  }
  const news = await readSet<Row>(data, 'parallel-ntrex128/ntrex-en-nl-fr-de-lb.jsonl.gz')
  const mixed = await readSet<Row>(data, 'lid-udhr-cld2-eld/lid.jsonl.gz')
  for (const language of LANGUAGES) {
    const others = LANGUAGES.filter(other => other !== language)
    const documents = [...Map.groupBy(news, row => row.doc).values()]
    const whole = documents.map(lines => ` ${lines.map(row => row[language] ?? '').join(' ')}`)
    const texts = {
      title: news.map(row => cut(row[language] ?? '', 60)),
      200: whole.flatMap(text => pieces(text, 200, 1000)),
    }
    for (const [figure, some] of Object.entries(texts)) {
      await measure(`${figure}_${language}`, language, some)
      await measure(`${figure}_${language}_other_outlet`, language, some, others)
    }
    const own = mixed.filter(row => row.lang === language && !/single|pairs/.test(row.src ?? ''))
    await measure(
      `lid_${language}`,
      language,
      own.map(row => row.text ?? ''),
    )
  }
  const lb = async (file: string) => (await readSet<Row>(data, file)).map(row => row.lb ?? '')
  await measure('lb_luxalign_headlines', 'lb', await lb('lb-luxalign-headlines/lb-headlines.jsonl'))
  await measure('lb_lod_sentences', 'lb', await lb('lb-lod-sentences/lod-sentences.jsonl.gz'))
  return { ...figures, ...(await measureRefusal()) }
}

async function countDetected(
  texts: string[],
  language: Language | null,
  outletLanguages: Language[],
): Promise<number> {
  let count = 0
  for (const title of texts)
    if ((await detectLanguage({ title, body: null, outletLanguages })) === language) count += 1
  return count
}

/** Files of the package `udhr` in our five languages, in all their scripts and spellings. */
const OURS = /^(?:nld|fra|deu_|ltz|eng)/

/** At each length, this many pieces of a declaration are tested. */
const PIECES = 5

/**
 * Measures how often texts in other languages are refused: all other languages of the package
 * `udhr`, in pieces as long as a title, a lead and an article.
 */
async function measureRefusal(): Promise<Figures> {
  const folder = new URL('declaration/', import.meta.resolve('udhr'))
  const figures: Figures = {}
  for (const length of [60, 200, 1000]) {
    const texts: string[] = []
    for (const file of (await readdir(folder)).filter(file => !OURS.test(file))) {
      const text = (await readFile(new URL(file, folder), 'utf8'))
        .replace(/<[^>]+>/g, ' ')
        .replace(/\s+/g, ' ')
      texts.push(...pieces(text.slice(Math.min(1000, text.length / 2)), length, PIECES))
    }
    const refused = await countDetected(texts, null, [...LANGUAGES])
    figures[`language_refused_${length}`] = percent(refused, texts.length)
  }
  return figures
}

function pieces(text: string, length: number, most: number): string[] {
  const found: string[] = []
  for (let at = 0; at + length <= text.length && found.length < most; at += length)
    found.push(text.slice(at, at + length))
  return found
}

/** Cuts the text after the last word that fits. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const space = text.lastIndexOf(' ', length)
  return text.slice(0, space > length / 2 ? space : length)
}

const VOCABULARIES = { nl: 'dutch', fr: 'french', de: 'german', en: 'english' } as const

/**
 * The percentage of words of Snowball's published vocabularies for which our stem is the published
 * stem. Our stemmer gets words without accents, because searches ignore accents. So the comparison
 * ignores accents, too.
 */
export async function measureStems(data: string): Promise<Figures> {
  const figures: Figures = {}
  for (const language of ['nl', 'fr', 'de', 'en'] as const) {
    const pairs = await readSet<[string, string]>(
      data,
      `stem-snowball/${VOCABULARIES[language]}.jsonl.gz`,
    )
    const right = pairs.filter(
      ([word, published]) => foldWord(stem(language, foldWord(word))) === foldWord(published),
    )
    if (pairs.length > 0) figures[`stems_${language}`] = percent(right.length, pairs.length)
  }
  return figures
}
