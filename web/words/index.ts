import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ExpressionProblem } from '#search/browser'
import { LANGUAGES, type Language } from '#shared/articles/article'
import en from './en.json' with { type: 'json' }

/**
 * The sentences of the pages. `{name}` in one of them stands for a value. The other languages have
 * the same shape, which the compiler checks, and the same values, which a test checks.
 */
export type Words = typeof en & {
  reading: {
    /**
     * Why an expression cannot be read; N stands for the character, W for what is there. English
     * has none: the page shows the sentences of the API.
     */
    expression?: Record<ExpressionProblem, string>
  }
  /** Sentences of the API by what it says, `{name}` for a value. English has none. */
  api?: Record<string, string>
}

/** A sentence for one thing, and for another number of things, `{n}`. */
export interface Forms {
  one: string
  other: string
}

/** English is part of the page; each other language is a separate file. */
const TABLES: Record<Language, () => Promise<Words>> = {
  en: async () => en,
  nl: async () => (await import('./nl.json', { with: { type: 'json' } })).default,
  fr: async () => (await import('./fr.json', { with: { type: 'json' } })).default,
  de: async () => (await import('./de.json', { with: { type: 'json' } })).default,
  lb: async () => (await import('./lb.json', { with: { type: 'json' } })).default,
}

/** The words of a page, with the formats of numbers and times. */
export interface Speech {
  language: Language
  words: Words
  /**
   * A sentence with its values. Numbers are written as in the language. `counted` chooses the form
   * of the sentence where it has two; without it the value `n` does.
   */
  say(sentence: string | Forms, values: Record<string, string | number>, counted?: number): string
  /**
   * Sentences of the API in the language of the page; null: the page has no words for one of them.
   */
  heard(sentences: string[]): string | null
  number(value: number): string
  percent(value: number): string
  /** A wait in the largest unit of which it has at least two, rounded up. */
  wait(seconds: number): string
  /** "5 minutes ago", "yesterday"; "now" for 0 minutes. */
  ago(n: number, unit: 'minute' | 'hour' | 'day'): string
  /** A moment in the reader's time zone. */
  date(at: Date, form: DateForm): string
}

const CHOSEN = 'perscope.language'

/**
 * The language that the reader chose here, or else the first language of the browser that we have.
 */
export function preferredLanguage(): Language {
  const chosen = [localStorage.getItem(CHOSEN) ?? '', ...navigator.languages].map(tag =>
    tag.slice(0, 2).toLowerCase(),
  )
  for (const tag of chosen) {
    const known = LANGUAGES.find(language => language === tag)
    if (known !== undefined) return known
  }
  return 'en'
}

export function rememberLanguage(language: Language): void {
  localStorage.setItem(CHOSEN, language)
}

export async function loadSpeech(language: Language): Promise<Speech> {
  const words: Words = await TABLES[language]().catch(() => en)
  const ages = language === 'lb' ? await import('./luxembourgish.ts').catch(() => null) : null
  // Browsers do not support Luxembourgish. Figures and dates are written as in German.
  const locale = language === 'lb' ? 'de-LU' : language === 'en' ? 'en-GB' : language
  const number = new Intl.NumberFormat(locale)
  const percent = new Intl.NumberFormat(locale, { style: 'percent' })
  const plural = new Intl.PluralRules(locale)
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const forms = dateForms(language, locale)
  const said = Object.entries(words.api ?? {}).map(([english, own]) => ({
    pattern: patternOf(english),
    own,
  }))
  const translated = (sentence: string): string | null => {
    for (const { pattern, own } of said) {
      const found = pattern.exec(sentence)
      if (found !== null) return own.replace(/\{(\w+)\}/g, (_, name) => found.groups?.[name] ?? '')
    }
    return language === 'en' ? sentence : null
  }
  return {
    language,
    words,
    say(sentence, values, counted = Number(values.n)): string {
      const isOne = plural.select(counted) === 'one'
      const text = typeof sentence === 'string' ? sentence : sentence[isOne ? 'one' : 'other']
      return text.replace(/\{(\w+)\}/g, (unknown, name: string) => {
        const value = values[name] ?? unknown
        return typeof value === 'number' ? number.format(value) : value
      })
    },
    heard(sentences: string[]): string | null {
      const own = sentences.map(translated)
      return own.length === 0 || own.includes(null) ? null : own.join(' ')
    },
    number: (value: number) => number.format(value),
    percent: (value: number) => percent.format(value),
    wait(seconds: number): string {
      const [unit, size] = UNITS.find(([, size]) => seconds >= 2 * size) ?? ['second', 1]
      // Short unit names do not change with their case ("in 2 Tagen"), and are the same in
      // Luxembourgish and German.
      const unitDisplay = locale.startsWith('de') ? 'short' : 'long'
      return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay }).format(
        Math.ceil(seconds / size),
      )
    },
    ago(n: number, unit: 'minute' | 'hour' | 'day'): string {
      return ages === null
        ? relative.format(-n, n === 0 ? 'second' : unit)
        : ages.agoInLuxembourgish(n, unit)
    },
    date: (at: Date, form: DateForm) => forms[form].format(at),
  }
}

/** Matches a sentence of the API; what stands for `{name}` is the group `name`. */
const patternOf = (english: string): RegExp =>
  new RegExp(
    `^${english.replace(/[\\^$.*+?()[\]|]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>.+)')}$`,
    's',
  )

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

export type DateForm =
  | 'moment'
  | 'hour'
  | 'clock'
  | 'day'
  | 'month'
  | 'shortDay'
  | 'shortDate'
  | 'shortMonth'

function dateForms(language: Language, locale: string): Record<DateForm, Intl.DateTimeFormat> {
  // Luxembourgish has its own names of months, so dates are written in figures.
  const long = language === 'lb' ? '2-digit' : 'long'
  const short = language === 'lb' ? '2-digit' : 'short'
  const date = language === 'lb' ? '2-digit' : 'numeric'
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  const day = { year: 'numeric', month: long, day: date } as const
  const form = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options)
  return {
    moment: form({ ...day, ...clock, timeZoneName: 'short' }),
    hour: form({ ...day, ...clock }),
    clock: form({ month: short, day: date, ...clock }),
    day: form(day),
    month: form({ year: 'numeric', month: long }),
    shortDay: form({ month: short, day: date }),
    shortDate: form({ year: 'numeric', month: short, day: date }),
    shortMonth: form({ year: 'numeric', month: short }),
  }
}

export const SpeechContext = createContext<Speech | null>(null)

export function useSpeech(): Speech {
  const speech = useContext(SpeechContext)
  if (speech === null) throw new Error('A part of the page stands outside of its language.')
  return speech
}
