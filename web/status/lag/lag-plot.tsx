import type { LagHour } from '../../../shared/status/figures.ts'
import { span } from '../numbers.ts'
import { type Area, Plot } from './plot.tsx'
import { type Point, runsOf, type Scale, scaleOf } from './scale.ts'

/** A lag by hour: the median as a line, and an area from it up to the 95th percentile. */
export function LagPlot(props: { hours: LagHour[]; kind: 'index' | 'vector'; title: string; nothing: string }) {
  const { hours, kind, title, nothing } = props
  const points = hours.flatMap(({ [kind]: lag }, at) => (lag === null ? [] : [{ at, ...lag }]))
  const last = points.at(-1)
  const tell = ({ [kind]: lag }: LagHour) =>
    lag === null ? 'none' : `median ${span(lag.median)}; 95 % within ${span(lag.p95)}`
  if (last === undefined) {
    return <Plot title={title} headline="–" note={nothing} hours={hours} marks={[]} tell={tell} draw={() => null} />
  }
  const scale = scaleOf(points)
  return (
    <Plot
      title={title}
      headline={span(last.median)}
      note={`median; 95 % within ${span(last.p95)}`}
      hours={hours}
      marks={scale.marks}
      tell={tell}
      draw={area => <Lines points={points} last={last} scale={scale} area={area} />}
    />
  )
}

function Lines({ points, last, scale, area }: { points: Point[]; last: Point; scale: Scale; area: Area }) {
  const at = (hour: number, seconds: number) => `${area.x(hour)} ${area.y(scale.shareOf(seconds))}`
  return (
    <>
      {runsOf(points).map(run => {
        const up = run.map(({ at: hour, p95 }) => at(hour, p95))
        const down = run.map(({ at: hour, median }) => at(hour, median))
        // A single hour would have no width.
        const wide = run.length === 1 ? 'h.01' : ''
        return (
          <g key={run[0]?.at}>
            <path class="area" d={`M${up.join('L')}${wide}L${down.toReversed().join('L')}z`} />
            <path class="line" d={`M${down.join('L')}${wide}`} />
          </g>
        )
      })}
      <circle class="point" cx={area.x(last.at)} cy={area.y(scale.shareOf(last.median))} r={3.5} />
    </>
  )
}
