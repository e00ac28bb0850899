import { authorsOf } from '../../../services/normaliser/authors/authors.ts'
import { publishedAt } from '../../../services/normaliser/dates/published.ts'
import { readMetadata } from '../../../services/normaliser/metadata/metadata.ts'
import { chooseTitle } from '../../../services/normaliser/metadata/title.ts'
import { readPageText } from '../../../services/normaliser/text/page-text.ts'
import { peopleOf, setOf } from '../authors.ts'
import { isDay, sameMinute, TIME_ZONE } from '../dates.ts'
import { spaced, wordF1 } from '../scores.ts'
import { piecesIn, start } from '../text.ts'
import type { TruePage } from '../truth.ts'
import { authorsOn, datesOn, titlesOn } from './ceilings.ts'

/** A page's part of one figure: `right` of `of`. */
export interface Verdict {
  figure: string
  right: number
  of: number
  /** How the value was missed, for `--misses`; null when it was right. */
  miss: string | null
}

/**
 * Compares what the normaliser finds on a page with the page's true values. The feed is not used.
 * `precision` counts the pages on which a value was found, `recall` those that have a true one.
 * `ceiling` counts the pages on which some source gives the true value, chosen or not.
 */
export function judge(page: TruePage): Verdict[] {
  const meta = readMetadata(page.html, page.url)
  const host = (URL.parse(page.url)?.hostname ?? '').replace(/^www\./, '')
  const outlet = { name: host, domain: host, timeZone: TIME_ZONE }
  return [
    ...(page.title === null ? [] : titles(page.title, chooseTitle(meta, null, outlet), titlesOn(meta, outlet))),
    ...(page.date === null
      ? []
      : dates(page, page.date, publishedAt(meta, null, outlet, '', new Date()), datesOn(meta, outlet))),
    ...(page.authors === null
      ? []
      : authors(page, page.authors, authorsOf(meta, null, outlet), authorsOn(meta, outlet))),
    ...(page.text === null ? [] : texts(page, page.text)),
  ]
}

/** Whitespace and typographic quotes aside. */
const plain = (title: string) =>
  spaced(title)
    .replace(/[„“”«»‟〝〞]/g, '"')
    .replace(/[‘’‚‛´`]/g, "'")

function titles(truth: string, found: string | null, given: string[]): Verdict[] {
  const isTrue = (title: string) => plain(title) === plain(truth)
  return valued('title', found, given, isTrue, `${JSON.stringify(found)} for ${JSON.stringify(truth)}`)
}

/** Their outlets are American for the most part, and state days on their own clocks. */
const AMERICAN = ['America/New_York', 'America/Los_Angeles']

function dates(page: TruePage, truth: string, found: Date | null, given: Date[]): Verdict[] {
  const kept = page.set === 'trafilatura' || page.set === 'htmldate'
  const isTrue = (date: Date) =>
    page.set === 'fundus' ? sameMinute(date, page) : isDay(date, truth, kept ? [TIME_ZONE] : [TIME_ZONE, ...AMERICAN])
  return valued('date', found, given, isTrue, `${found?.toISOString() ?? 'none'} for ${truth}`)
}

/** @param given the values of all sources; the rules may join two of them into another one */
function valued<T>(
  figure: string,
  found: T | null,
  given: T[],
  isTrue: (value: T) => boolean,
  miss: string,
): Verdict[] {
  const right = found !== null && isTrue(found)
  const verdict = { right: right ? 1 : 0, miss: right ? null : miss }
  return [
    { figure: `${figure}_recall`, of: 1, ...verdict },
    { figure: `${figure}_precision`, of: found === null ? 0 : 1, ...verdict, miss: null },
    ceiling(figure, right || given.some(isTrue)),
  ]
}

const ceiling = (figure: string, reached: boolean): Verdict => ({
  figure: `${figure}_ceiling`,
  right: reached ? 1 : 0,
  of: 1,
  miss: null,
})

/** `exact`: pages with the whole set of people; precision and recall count names. */
function authors(page: TruePage, truth: string[], names: string[], given: string[][]): Verdict[] {
  const [people, found] = [peopleOf(page, truth), setOf(names)]
  const right = found.filter(name => people.includes(name)).length
  const isTrue = (group: string[]) => group.length === people.length && group.every(name => people.includes(name))
  const exact = isTrue(found)
  return [
    {
      figure: 'authors_exact',
      right: exact ? 1 : 0,
      of: 1,
      miss: exact ? null : `${JSON.stringify(names)} for ${JSON.stringify(truth)}`,
    },
    { figure: 'authors_precision', right, of: found.length, miss: null },
    { figure: 'authors_recall', right, of: people.length, miss: null },
    ceiling('authors', exact || given.some(group => isTrue(setOf(group)))),
  ]
}

function texts({ set, html }: TruePage, truth: NonNullable<TruePage['text']>): Verdict[] {
  const found = readPageText(html).paragraphs.join('\n\n')
  if ('with' in truth) {
    const { right, missed, wrong } = piecesIn(truth, found)
    const miss = missed + wrong === 0 ? null : `${missed} pieces missed, ${wrong} too many`
    return [{ figure: 'text_f1', right: 2 * right, of: 2 * right + missed + wrong, miss }]
  }
  const f1 = wordF1(truth.whole, found)
  const words = { figure: 'text_f1', right: f1, of: 1, miss: f1 > 0.9 ? null : f1.toFixed(2) }
  // These texts begin with captions and labels, whose order on the page is chance.
  if (set === 'newspaper') return [words]
  const same = start(truth.whole) === start(found)
  return [
    words,
    {
      figure: 'snippet',
      right: same ? 1 : 0,
      of: 1,
      miss: same ? null : `\n    ${start(found)}\n    for\n    ${start(truth.whole)}`,
    },
  ]
}
