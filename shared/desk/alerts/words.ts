import { LANGUAGES, type Language } from '../../articles/article.ts'
import words from './words.json' with { type: 'json' }

/** The sentences of mails of alerts, and of the pages behind their links. */
export type AlertWords = typeof words.en

/** A language as mails and their pages speak it. */
export interface AlertSpeech {
  language: Language
  words: AlertWords
  /** A sentence with its number, in the form for it; or with a text, as HTML or plain text. */
  say(sentence: string | { one: string; other: string }, value: number | string): string
  /** A moment in a time zone. */
  moment(at: string, zone: string): string
}

/** @param asked a language that the owner of an alert chose; English if there is none like it */
export function alertSpeech(asked: string | null): AlertSpeech {
  const language = LANGUAGES.find(one => one === asked) ?? 'en'
  // Node has no Luxembourgish: its dates are those of its country, in figures.
  const locale = language === 'lb' ? 'de-LU' : language === 'en' ? 'en-GB' : language
  const dateStyle = language === 'lb' ? 'medium' : 'long'
  return {
    language,
    words: words[language],
    say(sentence, value) {
      const form = value === 1 ? 'one' : 'other'
      const text = typeof sentence === 'string' ? sentence : sentence[form]
      const said = typeof value === 'number' ? value.toLocaleString(locale) : value
      return text.replace('{n}', () => said)
    },
    moment: (at, zone) =>
      new Date(at).toLocaleString(locale, { dateStyle, timeStyle: 'short', timeZone: zone }),
  }
}
