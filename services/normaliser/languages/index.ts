import type { Language } from '../../../shared/articles/article.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { fr } from './fr.ts'
import { lb } from './lb.ts'
import { type LanguageRules, nl } from './nl.ts'

/** The rules of each language. */
export const LANGUAGE_RULES: Record<Language, LanguageRules> = { nl, fr, de, lb, en }

const ALL = Object.values(LANGUAGE_RULES)

/** A group of a regular expression that matches the alternatives of all languages. */
export function anyOf(alternatives: (rules: LanguageRules) => string): string {
  const all = ALL.map(alternatives).filter(text => text !== '')
  // An empty group would match everywhere, so this one never matches.
  return all.length === 0 ? '(?!)' : `(?:${all.join('|')})`
}

/** The words of all languages' lists. */
export const allWords = (list: (rules: LanguageRules) => string): string[] =>
  ALL.flatMap(rules => list(rules).split(/\s+/)).filter(word => word !== '')
