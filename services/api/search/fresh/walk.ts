import { LEXEMES } from '../../../../shared/text/lexemes.ts'
import { type Bounds, isEmpty, NEVER, type Span } from '../bounds.ts'
import { allOf, anyOf, type Expression, lexeme } from '../expression.ts'
import type { ArticleQuery, Axis, Position } from '../query.ts'
import type { Lookup } from './lookup.ts'
import { articlesIn, nextStretch, noDateLexeme, spanLexemes, type Timeline } from './timeline.ts'
import { tsqueryOf } from './tsquery.ts'

/** What all look-ups of one search have in common. */
export type Shared = Pick<
  Lookup,
  'version' | 'covered' | 'watermark' | 'publisherNos' | 'authorNos' | 'recheck' | 'probes'
> & {
  /** Of the words; null: everything. */
  match: Expression | null
  filters: Expression[]
}

/** A way through time, from the end where the page begins. */
export interface Walk {
  /** The next look-up, or null at the end of the set. */
  next(): Lookup | null
  /** Tells what the last look-up found and how many more are wanted, so that the next stretch is as wide as it takes. */
  learn(found: number, wanted: number): void
}

/** Stretches are made wider than they would have to be by chance, so that the next is rarely needed. */
const MARGIN = 1.4

/** A condition on time that leaves more than this part of the articles is no use to the index. */
const SELECTIVE = 0.5

/** @param firstStretch articles in the first stretch */
export function startWalk(
  query: ArticleQuery,
  position: Position | null,
  bounds: Bounds,
  timelines: Record<Axis, Timeline>,
  firstStretch: number,
  shared: Shared,
): Walk {
  const axis = query.sort
  const timeline = timelines[axis]
  const newestFirst = query.order === 'desc'
  const { match, filters, ...conditions } = shared
  const asked = [...(match === null ? [] : [orBeyondIndex(match)]), ...filters]
  const side = sideLexemes(axis, bounds, timelines)
  let remaining = remainder(
    (axis === 'published_at' ? bounds.published : bounds.ingested) ?? NEVER,
    newestFirst,
    position,
  )
  let undated = axis === 'published_at' && bounds.undatedSince !== null
  let examined = 0
  let matched = 0
  let size = firstStretch

  /** @param stretch null: none; @param withUndated also those without a date, which come last */
  const lookup = (stretch: Span | null, withUndated: boolean): Lookup => {
    const within = stretch === null || !isSelective(timeline, stretch) ? [] : spanLexemes(axis, stretch)
    const time = stretch === null || within.length > 0 ? [...within, ...(withUndated ? [noDateLexeme(axis)] : [])] : []
    const parts = [...asked, ...[time, side].filter(some => some.length > 0).map(anyOf)]
    const byPublished = axis === 'published_at'
    return {
      ...conditions,
      axis,
      order: query.order,
      query: parts.length === 0 ? null : tsqueryOf(allOf(parts)),
      published: byPublished ? (stretch ?? NEVER) : bounds.published,
      undatedSince: byPublished && !withUndated ? null : bounds.undatedSince,
      ingested: byPublished ? bounds.ingested : stretch,
      after: position?.last ?? null,
    }
  }

  return {
    next() {
      if (!isEmpty(remaining)) {
        const stretch = nextStretch(timeline, remaining, newestFirst, size)
        remaining = newestFirst ? { from: remaining.from, to: stretch.from } : { from: stretch.to, to: remaining.to }
        examined += articlesIn(timeline, stretch)
        const withUndated = undated && isEmpty(remaining)
        if (withUndated) undated = false
        return lookup(stretch, withUndated)
      }
      if (!undated) return null
      undated = false
      return lookup(null, true)
    },
    learn(found, wanted) {
      matched += found
      size = matched === 0 ? examined * 16 : Math.max(firstStretch, (wanted * examined * MARGIN) / matched)
    },
  }
}

/** Articles whose words the index does not hold are candidates of every search. */
const orBeyondIndex = (match: Expression) => anyOf([match, lexeme(LEXEMES.wordsCut)])

/** What a later page still has before it. */
function remainder(whole: Span, newestFirst: boolean, position: Position | null): Span {
  if (position === null) return whole
  const { value } = position.last
  if (value === null) return NEVER
  return newestFirst
    ? { from: whole.from, to: Math.min(whole.to, value + 1) }
    : { from: Math.max(whole.from, value), to: whole.to }
}

/** The condition on the time that is not the sort field, where it helps the index: any of these. Empty: nothing to ask. */
function sideLexemes(
  axis: Axis,
  { published, undatedSince, ingested }: Bounds,
  timelines: Record<Axis, Timeline>,
): Expression[] {
  if (axis === 'published_at') {
    return ingested !== null && isSelective(timelines.ingested_at, ingested) ? spanLexemes('ingested_at', ingested) : []
  }
  if (!isSelective(timelines.published_at, published)) return []
  const dated = spanLexemes('published_at', published)
  return undatedSince === null ? dated : [...dated, noDateLexeme('published_at')]
}

function isSelective(timeline: Timeline, span: Span): boolean {
  return articlesIn(timeline, span) <= SELECTIVE * articlesIn(timeline, { from: -Infinity, to: Infinity })
}
