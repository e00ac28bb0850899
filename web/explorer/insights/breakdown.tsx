import { useState } from 'preact/hooks'
import { COUNTRIES, LANGUAGES } from '../../../shared/articles/article.ts'
import { type Speech, useSpeech } from '../../words/index.ts'
import type { Search } from '../search/search.ts'
import { type Count, CountFailure, useCounts } from './counts.tsx'

type BreakdownBy = 'outlet' | 'language' | 'country'

/** Rows that are shown at first. */
const FIRST = 8

/**
 * Articles of the search by outlet, language or country: a table whose rows are bars. A name
 * narrows the search to it, or widens it again.
 */
export function Breakdown(props: {
  by: BreakdownBy
  search: Search | null
  secret: string
  onChange(change: Partial<Search>): void
}) {
  const { by, search, secret, onChange } = props
  const { words, number } = useSpeech()
  const [round, setRound] = useState(0)
  const [all, setAll] = useState(false)
  const { counts, failure, isOld } = useCounts(search, by, secret, round)
  const rows = (counts?.data ?? []).filter(({ count }) => count > 0)
  // One scale for all breakdowns: shares of the search.
  const most = Math.max(1, counts?.total ?? 0)
  return (
    <div class={isOld ? 'breakdown stale' : 'breakdown'}>
      {failure !== null && <CountFailure failure={failure} onAgain={() => setRound(before => before + 1)} />}
      {rows.length > 0 && (
        <table>
          <caption>{words.insights.by[by]}</caption>
          <thead class="unseen">
            <tr>
              <th scope="col">{words.insights.by[by]}</th>
              <th scope="col">{words.insights.articles}</th>
            </tr>
          </thead>
          <tbody>
            {(all ? rows : rows.slice(0, FIRST)).map(row => (
              <Row key={row.key} {...{ by, row, rows, most, search, onChange }} />
            ))}
          </tbody>
        </table>
      )}
      {rows.length > FIRST && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? words.insights.fewer : words.insights.more(number(rows.length - FIRST))}
        </button>
      )}
      {all && counts !== null && counts.other > 0 && <p class="hint">{words.insights.other(number(counts.other))}</p>}
    </div>
  )
}

function Row(props: {
  by: BreakdownBy
  row: Count
  rows: Count[]
  most: number
  search: Search | null
  onChange(change: Partial<Search>): void
}) {
  const { by, row, rows, most, search, onChange } = props
  const speech = useSpeech()
  const { number } = speech
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          class="link"
          aria-pressed={search !== null && isChosen(by, row, search)}
          onClick={() => search !== null && onChange(narrowed(by, row, rows, search))}
        >
          {nameOf(by, row, speech)}
        </button>
        <span class="bar" style={{ width: `${(100 * row.count) / most}%` }} />
      </th>
      <td class="figure">{number(row.count)}</td>
    </tr>
  )
}

function nameOf(by: BreakdownBy, { key, outlet }: Count, { words }: Speech): string {
  if (by === 'outlet') return outlet?.name ?? outlet?.domain ?? key
  if (by === 'country') {
    const country = COUNTRIES.find(one => one === key)
    return country === undefined ? key : words.countries[country]
  }
  const language = LANGUAGES.find(one => one === key)
  return language === undefined ? key : words.languages[language]
}

/**
 * The name of an outlet, as people know it; its domain where the name is a part of another one's.
 */
function filterOf(row: Count, rows: Count[]): string {
  const name = row.outlet?.name
  if (!name) return row.outlet?.domain ?? row.key
  const isPart = rows.some(other => other !== row && other.outlet?.name?.toLowerCase().includes(name.toLowerCase()))
  return isPart ? (row.outlet?.domain ?? name) : name
}

function isChosen(by: BreakdownBy, row: Count, search: Search): boolean {
  if (by === 'outlet') return search.outlet !== '' && [row.outlet?.name, row.outlet?.domain].includes(search.outlet)
  const chosen: readonly string[] = by === 'country' ? search.countries : search.languages
  return chosen.length === 1 && chosen[0] === row.key
}

function narrowed(by: BreakdownBy, row: Count, rows: Count[], search: Search): Partial<Search> {
  const isOn = isChosen(by, row, search)
  if (by === 'outlet') return { outlet: isOn ? '' : filterOf(row, rows) }
  if (by === 'country') return { countries: isOn ? [] : COUNTRIES.filter(one => one === row.key) }
  return { languages: isOn ? [] : LANGUAGES.filter(one => one === row.key) }
}
