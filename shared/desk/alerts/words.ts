import { LANGUAGES, type Language } from '#shared/articles/article'
import words from './words.json' with { type: 'json' }

/** The sentences of mails of alerts, and of the pages behind their links. */
export type AlertWords = typeof words.en

/** A language as mails and their pages speak it. */
export interface AlertSpeech {
  language: Language
  words: AlertWords
  /** A sentence with its number, in the form for it; or with a text, as HTML or plain text. */
  say(sentence: string | { one: string; other: string }, value: number | string): string
  /** When an alert writes. */
  times(alert: { when: string; zone: string }): string
  /** A moment in a time zone. */
  moment(at: string, zone: string): string
}

/** The days of a weekly digest, as `when` names them, from Monday on. */
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** @param asked a language that the owner of an alert chose; English if there is none like it */
export function alertSpeech(asked: string | null): AlertSpeech {
  const language = LANGUAGES.find(one => one === asked) ?? 'en'
  // Node has no Luxembourgish: its dates are those of its country, in figures.
  const locale = language === 'lb' ? 'de-LU' : language === 'en' ? 'en-GB' : language
  const dateStyle = language === 'lb' ? 'medium' : 'long'
  const own: AlertWords = words[language]
  const say: AlertSpeech['say'] = (sentence, value) => {
    const form = value === 1 ? 'one' : 'other'
    const text = typeof sentence === 'string' ? sentence : sentence[form]
    const said = typeof value === 'number' ? value.toLocaleString(locale) : value
    return text.replace('{n}', () => said)
  }
  return {
    language,
    words: own,
    say,
    times({ when, zone }) {
      const { atOnce, daily, weekly, days } = own.writes
      const [time = '', day] = when.split(' ').reverse()
      if (!/\d/.test(time)) return atOnce
      const often =
        day === undefined ? daily : weekly.replace('{d}', days[DAYS.indexOf(day)] ?? day)
      return `${say(often, time)} (${zone})`
    },
    moment: (at, zone) =>
      new Date(at).toLocaleString(locale, { dateStyle, timeStyle: 'short', timeZone: zone }),
  }
}
