import type { Stated } from '#search/types'
import type { AgencyEvidence } from '#shared/articles/agencies'
import type { Field, Origin, Source } from '#shared/outlets/origins'
import type { StoredPage } from '#shared/outlets/page'
import type { RightsRules, Signal } from '#shared/outlets/rights'
import { pageAgencies } from './authors/agencies.ts'
import { authorCandidates } from './authors/authors.ts'
import { bestOf, type Candidate, NO_ORIGIN } from './candidate.ts'
import { believedPage, composeArticle, type PageReading, readStored } from './compose.ts'
import { dateCandidates, type Moment, readingOf } from './dates/published.ts'
import { statementCandidates } from './metadata/statements.ts'
import { titleCandidates } from './metadata/title.ts'
import type { Template } from './template.ts'
import { feedTexts } from './text/feed-text.ts'

/** A candidate in the form that people read. */
interface ShownCandidate {
  source: Source
  value: string
  /** The objection to the value; null: none. */
  against: string | null
  chosen: boolean
}

/** The candidates of a field, in order of rank, and the reason for the choice. */
export interface FieldExplanation {
  origin: Origin
  /** The value of the article, which a later candidate may have completed; null: none. */
  value: string | null
  why: string
  candidates: ShownCandidate[]
}

export interface Explanation {
  /** `article`, or the reason why there is no article. */
  outcome: string
  interstitial: string | null
  /** The signals of rights that the page has. */
  rights: Signal[]
  /** Paragraphs that were left out, because many pages of the outlet contain them. */
  boilerplate: string[]
  /** The evidence of news agencies; at most `SHOWN` pieces of it. */
  agencies: AgencyEvidence[]
  /** What the outlet says of the article. */
  stated: Record<keyof Stated, ShownCandidate[]>
  /** Null when no article is made from the page. */
  fields: Record<Field, FieldExplanation> | null
}

const NOTHING = { section: [], kind: [], access: [] }

/** The most candidates of a field that are shown, because a page may state thousands. */
const SHOWN = 20
/** The most characters of a value that are shown. */
const LONGEST = 200

/**
 * Reads a page as the normaliser does, and lists the candidates of each field. Nothing is stored.
 */
export async function explainPage(
  page: StoredPage,
  now: Date,
  template: Template | null,
  rules: RightsRules,
): Promise<Explanation> {
  const composition = await composeArticle(page, now, { template, rules })
  const signs = { interstitial: composition.interstitial, rights: composition.rights.seen }
  if (composition.kind === 'refused') {
    const outcome = `refused: ${composition.reason}. ${composition.detail}`
    return { outcome, ...signs, boilerplate: [], agencies: [], stated: NOTHING, fields: null }
  }
  const reading = readStored(page, now, { template, rules })
  const believed = believedPage(page, reading.meta)
  const { entry, outlet } = believed
  const { article } = composition
  const said = statementCandidates(reading.meta, entry)
  const explain = (
    field: Field,
    value: string | null,
    candidates: ShownCandidate[],
  ): FieldExplanation => {
    const origin = composition.origins[field]
    return {
      origin,
      value: value === null ? null : shortened(value),
      why: why(origin, candidates),
      candidates,
    }
  }
  const language = {
    source: composition.origins.language.source,
    value: article.language,
    against: null,
  }
  return {
    outcome: 'article',
    ...signs,
    boilerplate: reading.boilerplate.slice(0, SHOWN).map(shortened),
    agencies: pageAgencies(reading.meta, entry, article.body)
      .slice(0, SHOWN)
      .map(one => ({ ...one, words: shortened(one.words) })),
    stated: { section: shown(said.section), kind: shown(said.kind), access: shown(said.access) },
    fields: {
      title: explain('title', article.title, shown(titleCandidates(reading.meta, entry, outlet))),
      date: explain(
        'date',
        article.publishedAt?.toISOString() ?? null,
        shown(datesOf(reading, believed, now), momentInWords),
      ),
      authors: explain(
        'authors',
        article.authors.join(', ') || null,
        shown(authorsOf(reading, believed), names => names.join(', ')),
      ),
      text: explain('text', article.body, shown([...reading.texts, ...feedTexts(entry)])),
      language: explain('language', article.language, shown([language])),
    },
  }
}

function datesOf(
  reading: PageReading,
  { entry, outlet }: StoredPage,
  now: Date,
): Iterable<Candidate<Moment>> {
  const text = bestOf(reading.texts)?.value ?? ''
  return dateCandidates(reading.meta, entry, text, readingOf(reading.meta, outlet, now))
}

function* authorsOf(
  { meta }: PageReading,
  { entry, outlet }: StoredPage,
): Generator<Candidate<string[]>> {
  const { stated, shown } = authorCandidates(meta, entry, outlet)
  yield* stated
  yield* shown()
}

/** Equal candidates of one source are shown once. */
function shown<T>(
  candidates: Iterable<Candidate<T>>,
  inWords: (value: T) => string = String,
): ShownCandidate[] {
  const known = new Map<string, ShownCandidate>()
  let isOpen = true
  for (const { source, value, against } of candidates) {
    if (known.size >= SHOWN) break
    const candidate = {
      source,
      value: shortened(inWords(value)),
      against,
      chosen: isOpen && against === null,
    }
    const key = JSON.stringify([source, candidate.value])
    if (known.has(key)) continue
    known.set(key, candidate)
    if (candidate.chosen) isOpen = false
  }
  return [...known.values()]
}

const shortened = (text: string) => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`)

function momentInWords({ date, instant }: Moment): string {
  const day = [date.year, date.month, date.day].map(part => String(part).padStart(2, '0')).join('-')
  if (date.time === null) return day
  return `${new Date(instant).toISOString()}${date.offset === null ? ' (on the outlet’s clock)' : ''}`
}

function why(origin: Origin, candidates: ShownCandidate[]): string {
  const at = candidates.findIndex(({ chosen }) => chosen)
  if (origin.source === NO_ORIGIN.source || at < 0)
    return candidates.length === 0
      ? 'No source gives one.'
      : 'Something speaks against every candidate.'
  const rank =
    at === 0
      ? 'It ranks first'
      : `Something speaks against ${at === 1 ? 'the one that ranks' : `the ${at} that rank`} higher`
  return `${rank}; ${SURENESS_IN_WORDS[origin.sure]}.`
}
const SURENESS_IN_WORDS: Record<Origin['sure'], string> = {
  confirmed: 'another source says the same',
  stated: 'the outlet states it there',
  guessed: 'the outlet does not state it, so it is a guess',
}
