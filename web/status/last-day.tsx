import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { Lag, LagHour } from '#shared/figures'
import { number, plural, span } from '#status/words'
import { axesOf, type Look, useChart, WHOLE_STEPS } from '#web/parts/chart'
import { Figures } from '#web/parts/table.tsx'

/** Articles and lags by hour, drawn and as a table. */
export function LastDay({ hours }: { hours: LagHour[] | null }): VNode {
  if (hours === null) return <p class="hint">Could not be read.</p>
  return (
    <>
      <div class="plots">
        <ArticlesPlot hours={hours} />
        <LagPlot
          hours={hours}
          kind="index"
          title="From publication to index"
          nothing="No article was crawled that was published since its outlet was added."
        />
        <LagPlot
          hours={hours}
          kind="vector"
          title="From index to vector"
          nothing="No crawled article was embedded."
        />
      </div>
      <p class="hint">
        Imported articles are not counted here. The way to the index counts articles published since
        their outlet was added.
      </p>
      <Figures columns={COLUMNS} rows={hours.map(rowOf)} />
    </>
  )
}

const COLUMNS = [
  'Hour',
  'Articles',
  'To index: median',
  '95 % within',
  'To vector: median',
  '95 % within',
]

const rowOf = ({ hour, articles, index, vector }: LagHour) => ({
  key: clock(hour),
  cells: [number(articles), ...lagCells(index), ...lagCells(vector)],
})

const lagCells = (lag: Lag | null) =>
  lag === null ? ['–', '–'] : [span(lag.median), span(lag.p95)]

/** The hour of an instant in the reader's time zone: "14:00". */
const clock = (instant: string) => CLOCK.format(new Date(instant))

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

const bars = uPlot.paths.bars?.({ size: [0.72] })

/** Articles by hour, as bars. */
function ArticlesPlot({ hours }: { hours: LagHour[] }) {
  return (
    <Plot
      title="Articles by hour"
      headline={number(hours.reduce((sum, { articles }) => sum + articles, 0))}
      note="crawled and indexed in 24 hours"
      hours={hours}
      tell={({ articles }) => plural(articles, 'article')}
      figures={drawArticles}
    />
  )
}

const drawArticles = (hours: LagHour[], { bar, rem }: Look): DayFigures => ({
  range: (_plot, _low, high) => [0, Math.max(1, high * 1.06)],
  axis: { space: 2 * rem, incrs: WHOLE_STEPS, values: (_plot, splits) => splits.map(number) },
  series: [{ fill: bar, width: 0, points: { show: false }, ...(bars ? { paths: bars } : {}) }],
  data: [hours.map(({ articles }) => articles)],
})

/** A lag by hour: the median as a line, and an area from it up to the 95th percentile. */
function LagPlot(props: {
  hours: LagHour[]
  kind: 'index' | 'vector'
  title: string
  nothing: string
}) {
  const { hours, kind, title, nothing } = props
  const last = hours.findLast(({ [kind]: lag }) => lag !== null)?.[kind]
  return (
    <Plot
      title={title}
      headline={last ? span(last.median) : '–'}
      note={last ? `median; 95 % within ${span(last.p95)}` : nothing}
      hours={hours}
      tell={({ [kind]: lag }) =>
        lag === null ? 'none' : `median ${span(lag.median)}; 95 % within ${span(lag.p95)}`
      }
      figures={last ? LAG_FIGURES[kind] : null}
    />
  )
}

/**
 * The labels of a lag's axis, by the logarithm of their seconds. On a logarithmic axis one chart
 * can show seconds as well as days.
 */
const MARKS = new Map(
  [1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000].map(s => [
    Math.log(s),
    span(s),
  ]),
)
const HEIGHTS = [...MARKS.keys()]
const heightOf = (seconds: number) => Math.log(Math.max(1, seconds))

const drawLag =
  (kind: 'index' | 'vector') =>
  (hours: LagHour[], { bar, area, rem }: Look): DayFigures => {
    const lags = hours.map(({ [kind]: lag }) => lag)
    // Points are drawn at the last hour and at lone hours, which would have no line.
    const isAlone = (at: number) => lags[at] && !lags[at - 1] && !lags[at + 1]
    const last = lags.findLastIndex(lag => lag !== null)
    const pointed = [...lags.keys()].filter(at => at === last || isAlone(at))
    return {
      range: (_plot, low, high) => [
        HEIGHTS.findLast(mark => mark <= low) ?? 0,
        HEIGHTS.find(mark => mark >= high && mark > low) ?? high,
      ],
      axis: {
        splits: ({ scales: { y } }) =>
          HEIGHTS.filter(mark => mark >= (y?.min ?? 0) && mark <= (y?.max ?? 0)),
        values: (_plot, splits) => splits.map(mark => MARKS.get(mark) ?? ''),
      },
      series: [
        {
          stroke: bar,
          width: 0.14 * rem,
          points: { show: true, size: 0.4 * rem, fill: bar, filter: () => pointed },
        },
        { width: 0, points: { show: false } },
      ],
      bands: [{ series: [2, 1], fill: area }],
      data: [
        lags.map(lag => lag && heightOf(lag.median)),
        lags.map(lag => lag && heightOf(lag.p95)),
      ],
    }
  }

const LAG_FIGURES = { index: drawLag('index'), vector: drawLag('vector') }

/** The data that are drawn by hour, and their axis. */
interface DayFigures {
  range: uPlot.Range.Function
  axis: uPlot.Axis
  series: uPlot.Series[]
  bands?: uPlot.Band[]
  data: (number | null)[][]
}

/** Height of the drawing, in `rem`. The style reserves this space. */
const HEIGHT = 10.5
/** In `rem`. From this width on, every sixth hour has a label; below it, every twelfth. */
const WIDE = 17

/** A chart of 24 hours with its headline. It shows the figures of the hour under the pointer. */
function Plot(props: {
  title: string
  headline: string
  note: string
  hours: LagHour[]
  tell(hour: LagHour): string
  /** null: nothing to draw. */
  figures: ((hours: LagHour[], look: Look) => DayFigures) | null
}) {
  const { title, headline, note, hours, tell, figures } = props
  const [pointed, setPointed] = useState<number | null>(null)
  const told = pointed === null ? undefined : hours[pointed]
  return (
    <figure>
      <figcaption>
        <span class="title">{title}</span>
        <strong>{headline}</strong>
        <span class="hint told">
          {told === undefined ? note : `${clock(told.hour)}: ${tell(told)}`}
        </span>
      </figcaption>
      {figures && (
        <Drawing
          label={`${title}: ${headline} ${note}`}
          {...{ hours, figures }}
          onPoint={setPointed}
        />
      )}
    </figure>
  )
}

function Drawing(props: {
  label: string
  hours: LagHour[]
  figures(hours: LagHour[], look: Look): DayFigures
  onPoint(hour: number | null): void
}) {
  const { label, hours, figures, onPoint } = props
  const draw = useCallback(
    async (place: HTMLElement, look: Look) => {
      const { range, axis, series, bands, data } = figures(hours, look)
      const { rem } = look
      const last = hours.length - 1
      const below: uPlot.Axis = {
        splits: ({ width }) =>
          [...hours.keys()].filter(at => at % (width < WIDE * rem ? 12 : 6) === 0).concat(last),
        values: (_plot, splits) =>
          splits.map(at => (at === last ? 'now' : clock(hours[at]?.hour ?? ''))),
      }
      return new uPlot(
        {
          width: place.clientWidth,
          height: HEIGHT * rem,
          padding: [8, rem, 0, 0],
          legend: { show: false },
          cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
          scales: { x: { time: false, range: [-0.5, last + 0.5] }, y: { range } },
          axes: axesOf(look, below, { size: 3.5 * rem, ...axis }),
          series: [{}, ...series],
          ...(bands ? { bands } : {}),
          hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
        },
        [[...hours.keys()], ...data],
        place,
      )
    },
    [hours, figures, onPoint],
  )
  return <div ref={useChart(draw)} class="chart" role="img" aria-label={label} />
}
