import type { Language } from '#shared/articles/article'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import lb from './lb.json' with { type: 'json' }
import nl from './nl.json' with { type: 'json' }
import type { LanguageRules } from './rules.ts'

/** The rules of each language. */
export const LANGUAGE_RULES: Record<Language, LanguageRules> = { nl, fr, de, lb, en }

const ALL = Object.values(LANGUAGE_RULES)

/** A group of a regular expression that matches the alternatives of all languages. */
export function anyOf(alternatives: (rules: LanguageRules) => readonly string[]): string {
  const all = ALL.flatMap(alternatives)
  // An empty group would match everywhere, so this one never matches.
  return all.length === 0 ? '(?!)' : `(?:${all.join('|')})`
}

/** The words of all languages' lists. */
export const allWords = (list: (rules: LanguageRules) => readonly string[]): string[] =>
  ALL.flatMap(list).flatMap(line => line.split(' '))
