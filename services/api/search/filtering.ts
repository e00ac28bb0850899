import { COUNTRIES } from '../../../shared/articles/article.ts'
import { LEXEMES } from '../../../shared/text/lexemes.ts'
import { anyOf, type Expression, lexeme } from './expression.ts'
import type { ArticleFilter } from './query.ts'

/** Outlets and authors whose names hold what was asked for; null: not asked for. */
export interface NamedPeople {
  publisherNos: number[] | null
  authorNos: number[] | null
}

/** The filters that do not concern time: as lexemes where they are few, else as lists that rows are compared with. */
export interface Filtering {
  /** Outlets and authors, which leave few articles. */
  narrow: Expression[]
  /** Countries, languages and by-lines, which leave many. */
  wide: Expression[]
  publisherNos: number[] | null
  authorNos: number[] | null
}

/** Filters that others apply: names come as numbers (`prelude.ts`), times are bounds (`bounds.ts`). */
type Elsewhere = 'outlet' | 'author' | 'coverage' | 'ingestedAfter'

/** @param few more numbers than these are cheaper to compare article by article than to look up one by one */
export function filteringOf(filter: ArticleFilter, people: NamedPeople, few: number): Filtering {
  const isFew = (numbers: number[] | null): numbers is number[] =>
    numbers !== null && numbers.length > 0 && numbers.length <= few
  const narrow: Expression[] = []
  const { publisherNos, authorNos } = people
  if (isFew(authorNos)) narrow.push(anyOf(authorNos.map(no => lexeme(LEXEMES.author(no)))))
  if (isFew(publisherNos)) narrow.push(anyOf(publisherNos.map(no => lexeme(LEXEMES.publisher(no)))))
  const wide: Expression[] = []
  // The compiler refuses a filter that is added and looked at nowhere.
  const { countries, languages, hasAuthor, ...forgotten }: Omit<ArticleFilter, Elsewhere> = filter
  void (forgotten satisfies Record<string, never>)
  if (countries.length < COUNTRIES.length) wide.push(anyOf(countries.map(one => lexeme(LEXEMES.country(one)))))
  if (languages !== null) wide.push(anyOf(languages.map(one => lexeme(LEXEMES.language(one)))))
  if (hasAuthor !== null) wide.push(lexeme(LEXEMES.hasAuthor(hasAuthor)))
  return {
    narrow,
    wide,
    publisherNos: isFew(publisherNos) ? null : publisherNos,
    authorNos: isFew(authorNos) ? null : authorNos,
  }
}

/** Nobody has such a name: nothing can match. */
export function leavesNothing({ publisherNos, authorNos }: NamedPeople): boolean {
  return publisherNos?.length === 0 || authorNos?.length === 0
}
