import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Speech, useSpeech } from '../../words/index.ts'
import type { Search } from '../search/search.ts'
import type { Chart } from './chart.ts'
import { type Count, CountFailure, TIME_UNITS, type TimeUnit, useTimeCounts } from './counts.tsx'

/**
 * Articles of the search by time of publication. A click on a bar or a brush over several narrows
 * the search; the same figures stand in a table, whose buttons do the same.
 */
export function Timeline({
  search,
  secret,
  onChange,
}: {
  search: Search | null
  secret: string
  onChange(change: Partial<Search>): void
}) {
  const { words } = useSpeech()
  const [unit, setUnit] = useState<TimeUnit | null>(null)
  const [round, setRound] = useState(0)
  const { counts, failure, isOld, unit: drawn } = useTimeCounts(search, unit, secret, round)
  const data = useMemo(() => trimmed(counts?.data ?? []), [counts])
  const narrow = useCallback(
    (first: Count | undefined, last: Count | undefined) => {
      if (first?.from && last?.to) onChange({ publishedAfter: first.from, publishedBefore: last.to })
    },
    [onChange],
  )
  const isNarrow = search !== null && (search.publishedAfter !== '' || search.publishedBefore !== '')
  return (
    <div class={isOld ? 'timeline stale' : 'timeline'}>
      <div class="insight-head">
        <h2>{words.insights.timeline}</h2>
        {isNarrow && (
          <button type="button" class="link" onClick={() => onChange({ publishedAfter: '', publishedBefore: '' })}>
            {words.insights.allTime}
          </button>
        )}
        <select
          aria-label={words.insights.unit}
          value={unit ?? ''}
          onChange={event => setUnit(TIME_UNITS.find(one => one === event.currentTarget.value) ?? null)}
        >
          <option value="">{words.insights.units.fitting(words.insights.units[drawn])}</option>
          {TIME_UNITS.map(one => (
            <option key={one} value={one}>
              {words.insights.units[one]}
            </option>
          ))}
        </select>
      </div>
      {failure !== null && <CountFailure failure={failure} onAgain={() => setRound(before => before + 1)} />}
      {counts !== null && (
        <Bars
          data={data}
          unit={drawn}
          undated={counts.undated}
          waitingFrom={counts.meaning?.waiting_from ?? null}
          onNarrow={narrow}
        />
      )}
    </div>
  )
}

/** Without the empty time before the first article and after the last one. */
function trimmed(data: Count[]): Count[] {
  const first = data.findIndex(({ count }) => count > 0)
  return first < 0 ? [] : data.slice(first, data.findLastIndex(({ count }) => count > 0) + 1)
}

function Bars(props: {
  data: Count[]
  unit: TimeUnit
  undated: number
  /** The earliest time of an article that a search by meaning cannot find yet. */
  waitingFrom: string | null
  onNarrow(first: Count | undefined, last: Count | undefined): void
}) {
  const { data, unit, undated, waitingFrom, onNarrow } = props
  const speech = useSpeech()
  const { words, number } = speech
  const [point, setPoint] = useState<number | null>(null)
  const place = useChart({ data, unit, waitingFrom, onPoint: setPoint, onSelect: (a, b) => onNarrow(data[a], data[b]) })
  const most = data.reduce<Count | undefined>(
    (best, one) => (best === undefined || one.count > best.count ? one : best),
    undefined,
  )
  const shown = (point === null ? undefined : data[point]) ?? null
  if (data.length === 0) return undated > 0 ? <p class="hint">{words.insights.undated(number(undated))}</p> : null
  return (
    <>
      <div
        ref={place}
        class="chart"
        role="img"
        aria-label={words.insights.summary(
          number(data.length),
          words.insights.units[unit],
          most ? spanText(most, unit, speech) : '',
          number(most?.count ?? 0),
        )}
      />
      <p class="hint point" aria-hidden="true">
        {shown
          ? `${spanText(shown, unit, speech)}: ${words.results.total(number(shown.count), shown.count === 1)}`
          : words.insights.brush}
      </p>
      {waitingFrom !== null && <p class="hint">{words.insights.waiting}</p>}
      {undated > 0 && <p class="hint">{words.insights.undated(number(undated))}</p>}
      <Figures data={data} unit={unit} onNarrow={one => onNarrow(one, one)} />
    </>
  )
}

/** The figures of the drawing as a table, whose buttons do what a click on a bar does. */
function Figures({ data, unit, onNarrow }: { data: Count[]; unit: TimeUnit; onNarrow(one: Count): void }) {
  const speech = useSpeech()
  const { words, number } = speech
  return (
    <details class="figures">
      <summary>{words.insights.asTable}</summary>
      <div class="scroll">
        <table>
          <caption class="unseen">{words.insights.timeline}</caption>
          <thead>
            <tr>
              <th scope="col">{words.insights.time}</th>
              <th scope="col" class="figure">
                {words.insights.articles}
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map(one => (
              <tr key={one.key}>
                <th scope="row">
                  <button type="button" class="link" onClick={() => onNarrow(one)}>
                    {spanText(one, unit, speech)}
                  </button>
                </th>
                <td class="figure">{number(one.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

/** Draws into the element that the reference is put on, again when data, size or colours change. */
function useChart(options: {
  data: Count[]
  unit: TimeUnit
  waitingFrom: string | null
  onPoint(index: number | null): void
  onSelect(first: number, last: number): void
}) {
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(options)
  latest.current = options
  const speech = useSpeech()
  const { data, unit, waitingFrom } = options
  useEffect(() => {
    let chart: Chart | null = null
    let gone = false
    const draw = async () => {
      // uPlot is a file of its own: the first view does not wait for it.
      const { drawChart } = await import('./chart.ts')
      if (gone || place.current === null) return
      chart?.destroy()
      chart = drawChart({
        place: place.current,
        data,
        tick: (at, before) => tickText(at, before, unit, speech),
        waitingFrom,
        number: speech.number,
        onPoint: index => latest.current.onPoint(index),
        onSelect: (first, last) => latest.current.onSelect(first, last),
      })
    }
    const redraw = () => void draw().catch(() => {}) // the table stays
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const sizes = new ResizeObserver(() => chart?.resize())
    scheme.addEventListener('change', redraw)
    if (place.current !== null) sizes.observe(place.current)
    redraw()
    return () => {
      gone = true
      scheme.removeEventListener('change', redraw)
      sizes.disconnect()
      chart?.destroy()
    }
  }, [data, unit, waitingFrom, speech])
  return place
}

/** A bucket of time in words, as a table names it. */
function spanText({ key, from, to }: Count, unit: TimeUnit, { date }: Speech): string {
  if (from === undefined || to === undefined) return key
  const begin = new Date(from)
  if (unit === 'year') return String(begin.getFullYear())
  return unit === 'week' ? `${date(begin, 'day')} – ${date(new Date(to), 'day')}` : date(begin, unit)
}

/** A bucket of time on the axis: with its year where the label before it has another one. */
function tickText(at: Date, before: Date | null, unit: TimeUnit, { date }: Speech): string {
  if (unit === 'year') return String(at.getFullYear())
  if (unit === 'hour') return date(at, 'clock')
  if (unit === 'month') return date(at, 'shortMonth')
  return date(at, before !== null && before.getFullYear() !== at.getFullYear() ? 'shortDate' : 'shortDay')
}
