import type { Lag, LagHour } from '../../../shared/status/figures.ts'
import { clock, number, span } from '../numbers.ts'
import { ArticlesPlot } from './articles-plot.tsx'
import { LagPlot } from './lag-plot.tsx'

/** Articles and lags by hour, drawn and as a table. */
export function LastDay({ hours }: { hours: LagHour[] | null }) {
  if (hours === null) return <p class="hint">Could not be read.</p>
  return (
    <>
      <div class="plots">
        <ArticlesPlot hours={hours} />
        <LagPlot
          hours={hours}
          kind="index"
          title="From publication to index"
          nothing="No article came in that was published since its outlet was added."
        />
        <LagPlot hours={hours} kind="vector" title="From index to vector" nothing="Nothing was embedded." />
      </div>
      <details class="as-table">
        <summary>These figures as a table</summary>
        <LagTable hours={hours} />
      </details>
    </>
  )
}

function LagTable({ hours }: { hours: LagHour[] }) {
  return (
    <table class="counts-table">
      <thead>
        <tr>
          <th scope="col">Hour</th>
          <th scope="col">Articles</th>
          <th scope="col">To index: median</th>
          <th scope="col">95 % within</th>
          <th scope="col">To vector: median</th>
          <th scope="col">95 % within</th>
        </tr>
      </thead>
      <tbody>
        {hours.map(({ hour, articles, index, vector }) => (
          <tr key={hour}>
            <th scope="row">{clock(hour)}</th>
            <td>{number(articles)}</td>
            <LagCells lag={index} />
            <LagCells lag={vector} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const LagCells = ({ lag }: { lag: Lag | null }) => (
  <>
    <td>{lag === null ? '–' : span(lag.median)}</td>
    <td>{lag === null ? '–' : span(lag.p95)}</td>
  </>
)
