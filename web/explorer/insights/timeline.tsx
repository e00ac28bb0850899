import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import type { Count } from '#clients/typescript/src/index'
import { COUNTRIES, LANGUAGES } from '#shared/articles/article'
import type { Search } from '#web/explorer/search/search'
import { type Look, useChart } from '#web/parts/chart'
import { Button, Select } from '#web/parts/controls.tsx'
import { Figures } from '#web/parts/table.tsx'
import { type Speech, useSpeech } from '#web/words/index'
import { type FigureProps, TIME_UNITS, type TimeUnit, useCounts } from './counts.tsx'
import { type Bucket, useCompleteness, useTimeCounts } from './over-time.ts'

/**
 * Articles of the search by time of publication. A click on a bar, or a brush over several bars,
 * narrows the search. A table has the same figures, and buttons with the same effect.
 */
export function Timeline({
  search,
  round,
  onChange,
  onFailure,
  texts,
}: FigureProps & { texts: boolean }): VNode {
  const { words } = useSpeech()
  const [unit, setUnit] = useUnit()
  const { counts, failure, isOld, unit: drawn } = useTimeCounts(search, unit, round, texts)
  useEffect(() => onFailure('time', failure), [failure, onFailure])
  const covered = useCompleteness(search, counts?.data ?? NOTHING, drawn)
  const data = useMemo(() => trimmed(covered), [covered])
  const narrow = useCallback(
    (first: Count | undefined, last: Count | undefined) => {
      if (first?.from && last?.to)
        onChange({ publishedAfter: first.from, publishedBefore: last.to })
    },
    [onChange],
  )
  const isNarrow =
    search !== null && (search.publishedAfter !== '' || search.publishedBefore !== '')
  return (
    <div class={isOld ? 'timeline stale' : 'timeline'}>
      <div class="row insight-head">
        <h2>{texts ? words.copies.timeline : words.insights.timeline}</h2>
        {isNarrow && (
          <Button
            class="link"
            onClick={() => onChange({ publishedAfter: '', publishedBefore: '' })}
            text={words.insights.allTime}
          />
        )}
        <Units {...{ unit, drawn, onUnit: setUnit }} />
      </div>
      {counts !== null && (
        <Bars
          data={data}
          unit={drawn}
          texts={texts}
          undated={counts.undated}
          waitingFrom={counts.meaning?.waiting_from ?? null}
          onNarrow={narrow}
        />
      )}
    </div>
  )
}

const NOTHING: Count[] = []

/** The unit that was chosen last. A comparison begins with the unit of the timeline. */
let chosen: TimeUnit | null = null

/** The chosen unit of time; null: the one that fits. */
export function useUnit(): [TimeUnit | null, (unit: TimeUnit | null) => void] {
  const [unit, setUnit] = useState(chosen)
  return [
    unit,
    one => {
      chosen = one
      setUnit(one)
    },
  ]
}

/** @param props.drawn the unit that is drawn, which is the fitting one where none is chosen */
export function Units(props: {
  unit: TimeUnit | null
  drawn: TimeUnit
  onUnit(unit: TimeUnit | null): void
}): VNode {
  const { unit, drawn, onUnit } = props
  const { words, say } = useSpeech()
  const { units } = words.insights
  return (
    <Select
      aria-label={words.insights.unit}
      value={unit ?? ''}
      options={[
        ['', say(units.fitting, { unit: units[drawn].toLowerCase() })],
        ...TIME_UNITS.map(one => [one, units[one]] as const),
      ]}
      onChoose={chosen => onUnit(chosen || null)}
    />
  )
}

/**
 * The buckets without the empty time before the first article and after the last one. At the end, a
 * bucket with a gap does not count as empty.
 */
function trimmed(data: Bucket[]): Bucket[] {
  const first = data.findIndex(({ count }) => count > 0)
  return first < 0
    ? []
    : data.slice(first, data.findLastIndex(({ count, gap }) => count > 0 || gap) + 1)
}

function Bars(props: {
  data: Bucket[]
  unit: TimeUnit
  texts: boolean
  undated: number
  /** The earliest time of an article that a search by meaning cannot find yet. */
  waitingFrom: string | null
  onNarrow(first: Count | undefined, last: Count | undefined): void
}) {
  const { data, unit, texts, undated, waitingFrom, onNarrow } = props
  const speech = useSpeech()
  const { words, say } = speech
  const [point, setPoint] = useState<number | null>(null)
  const draw = useCallback(
    async (place: HTMLElement, look: Look) => {
      // uPlot is a separate file, so that the first view does not wait for it.
      const { drawChart } = await import('./chart.ts')
      return drawChart(place, look, {
        data,
        waitingFrom,
        number: speech.number,
        onPoint: setPoint,
        tick: (at, before) => tickText(at, before, unit, speech),
        onSelect: (first, last) => onNarrow(data[first], data[last]),
      })
    },
    [data, unit, waitingFrom, speech, onNarrow],
  )
  const counted = (count: number) =>
    say(texts ? words.copies.texts : words.results.total, { n: count })
  const place = useChart(draw)
  const most = data.reduce<Count | undefined>(
    (best, one) => (best === undefined || one.count > best.count ? one : best),
    undefined,
  )
  const shown = (point === null ? undefined : data[point]) ?? null
  if (data.length === 0)
    return undated > 0 ? <p class="hint">{say(words.insights.undated, { n: undated })}</p> : null
  return (
    <>
      <div
        ref={place}
        class="chart"
        role="img"
        aria-label={say(words.insights.summary, {
          bars: say(words.insights.bars, { n: data.length }),
          unit: words.insights.units[unit].toLowerCase(),
          when: most ? spanText(most, unit, speech) : '',
          most: counted(most?.count ?? 0),
        })}
      />
      <p class="hint point" aria-hidden="true">
        {shown
          ? `${say(words.app.named, { name: spanText(shown, unit, speech), value: counted(shown.count) })}${shown.have ? `; ${shown.have}` : ''}`
          : words.insights.brush}
      </p>
      {waitingFrom !== null && <p class="hint">{words.insights.waiting}</p>}
      {data.some(({ gap }) => gap) && <p class="hint">{words.insights.completeness.striped}</p>}
      {undated > 0 && <p class="hint">{say(words.insights.undated, { n: undated })}</p>}
      <Figures
        hasButtons
        caption={words.insights.timeline}
        columns={[
          words.insights.time,
          texts ? words.copies.once : words.insights.articles,
          words.insights.completeness.title,
        ]}
        figures={[1]}
        rows={data.map(one => ({
          key: one.key,
          // This button has the same effect as a click on the bar.
          name: (
            <Button
              class="link"
              onClick={() => onNarrow(one, one)}
              text={spanText(one, unit, speech)}
            />
          ),
          cells: [one.count, one.have],
        }))}
      />
    </>
  )
}

/** A bucket of time in words, for a table. */
export function spanText(
  { key, from, to }: Pick<Count, 'key' | 'from' | 'to'>,
  unit: TimeUnit,
  { date }: Speech,
): string {
  if (from === undefined || to === undefined) return key
  const begin = new Date(from)
  if (unit === 'year') return String(begin.getFullYear())
  return unit === 'week'
    ? `${date(begin, 'day')} – ${date(new Date(to), 'day')}`
    : date(begin, unit)
}

/**
 * The label of a bucket on the axis. A day or week shows its year when the label before it has
 * another year.
 */
export function tickText(at: Date, before: Date | null, unit: TimeUnit, { date }: Speech): string {
  if (unit === 'year') return String(at.getFullYear())
  if (unit === 'hour') return date(at, 'clock')
  if (unit === 'month') return date(at, 'shortMonth')
  return date(
    at,
    before !== null && before.getFullYear() !== at.getFullYear() ? 'shortDate' : 'shortDay',
  )
}

type BreakdownBy = 'outlet' | 'language' | 'country'

/** Rows that are shown at first. */
const FIRST = 8

/**
 * Articles of the search by outlet, language or country: a table whose rows are bars. A click on a
 * name narrows the search to it, or removes that filter again.
 */
export function Breakdown({
  by,
  search,
  round,
  onChange,
  onFailure,
}: FigureProps & { by: BreakdownBy }): VNode {
  const { words, say } = useSpeech()
  const [all, setAll] = useState(false)
  const { counts, failure, isOld } = useCounts(search, by, round)
  useEffect(() => onFailure(by, failure), [by, failure, onFailure])
  const rows = (counts?.data ?? []).filter(({ count }) => count > 0)
  const most = Math.max(...rows.map(({ count }) => count))
  return (
    <div class={isOld ? 'breakdown stale' : 'breakdown'}>
      {rows.length > 0 && (
        <table>
          <caption>{words.insights.by[by]}</caption>
          {/* These give the columns their widths, because the hidden head cannot. */}
          <colgroup>
            <col />
            <col class="numbers" />
          </colgroup>
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
        <Button
          class="quiet"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          text={all ? words.insights.fewer : say(words.insights.more, { n: rows.length - FIRST })}
        />
      )}
      {all && counts !== null && counts.other > 0 && (
        <p class="hint">{say(words.insights.other, { n: counts.other })}</p>
      )}
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
  const name = nameOf(by, row, speech)
  return (
    <tr>
      <th scope="row">
        <Button
          class="link"
          title={name}
          aria-pressed={search !== null && isChosen(by, row, search)}
          onClick={() => search !== null && onChange(narrowed(by, row, rows, search))}
          text={name}
        />
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
 * The filter for an outlet: its name, or its domain when another outlet's name contains that name.
 */
function filterOf(row: Count, rows: Count[]): string {
  const name = row.outlet?.name
  if (!name) return row.outlet?.domain ?? row.key
  const isPart = rows.some(
    other => other !== row && other.outlet?.name?.toLowerCase().includes(name.toLowerCase()),
  )
  return isPart ? (row.outlet?.domain ?? name) : name
}

function isChosen(by: BreakdownBy, row: Count, search: Search): boolean {
  if (by === 'outlet')
    return search.outlet !== '' && [row.outlet?.name, row.outlet?.domain].includes(search.outlet)
  const chosen: readonly string[] = by === 'country' ? search.countries : search.languages
  return chosen.length === 1 && chosen[0] === row.key
}

function narrowed(by: BreakdownBy, row: Count, rows: Count[], search: Search): Partial<Search> {
  const isOn = isChosen(by, row, search)
  if (by === 'outlet') return { outlet: isOn ? '' : filterOf(row, rows) }
  if (by === 'country') return { countries: isOn ? [] : COUNTRIES.filter(one => one === row.key) }
  return { languages: isOn ? [] : LANGUAGES.filter(one => one === row.key) }
}
