import { LEXEMES } from '../../../../shared/text/lexemes.ts'
import { isPair } from '../../../../shared/text/pairs.ts'
import { quote } from '../../../../shared/text/tsvector.ts'
import type { Expression } from '../expression.ts'

/**
 * An expression as the text of a `tsquery` over `fresh_articles.terms`: lexemes and operators and nothing else, so that
 * Postgres' own parsers never see a client's words.
 *
 * Where an article's positions are cut, a phrase may stand unseen: its words suffice then, and the recheck decides. Under a
 * negation it is the other way round: only what is seen excludes.
 */
export function tsqueryOf(expression: Expression, negated = false): string {
  switch (expression.kind) {
    case 'lexeme':
      return quote(expression.lexeme)
    case 'all':
      return joined(
        ' & ',
        expression.of.map(one => tsqueryOf(one, negated)),
      )
    case 'any':
      return joined(
        ' | ',
        expression.of.map(one => tsqueryOf(one, negated)),
      )
    case 'but':
      return joined(' & ', [
        tsqueryOf(expression.of, negated),
        ...expression.not.map(one => `!${tsqueryOf(one, !negated)}`),
      ])
    case 'phrase':
      return phrase(expression.words, expression.scope, negated)
  }
}

function joined(operator: string, parts: string[]): string {
  return parts.length === 1 ? parts[0]! : `(${parts.join(operator)})`
}

/** Neighbours that are a lexeme of their own go first: they spare the index the reading of positions. */
function phrase(words: string[], scope: 'title' | 'title_body', negated: boolean): string {
  const inTitle = scope === 'title'
  const lexemes = words.map(inTitle ? LEXEMES.titleWord : LEXEMES.word)
  const pairs = new Set<string>()
  words.slice(1).forEach((word, index) => {
    const before = words[index]!
    if (isPair(before, word)) pairs.add(quote((inTitle ? LEXEMES.titlePair : LEXEMES.pair)(before, word)))
  })
  if (words.length === 2 && pairs.size === 1) return [...pairs][0]!
  const whole = joined(' & ', [...pairs, `(${lexemes.map(quote).join(' <-> ')})`])
  if (negated) return whole
  const present = [LEXEMES.positionsCut, ...new Set(lexemes)].map(quote)
  return joined(' | ', [whole, joined(' & ', present)])
}
