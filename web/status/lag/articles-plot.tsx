import type { LagHour } from '../../../shared/status/figures.ts'
import { number, plural } from '../numbers.ts'
import { Plot } from './plot.tsx'

/** Articles by hour, as bars. */
export function ArticlesPlot({ hours }: { hours: LagHour[] }) {
  const total = hours.reduce((sum, { articles }) => sum + articles, 0)
  const top = niceAbove(Math.max(...hours.map(({ articles }) => articles)))
  return (
    <Plot
      title="Articles by hour"
      headline={number(total)}
      note="crawled and indexed in 24 hours"
      hours={hours}
      marks={[0, 0.5, 1].map(share => ({ share, label: number(share * top) }))}
      tell={({ articles }) => plural(articles, 'article')}
      draw={({ x, y, band }) =>
        hours.map(
          ({ hour, articles }, at) =>
            articles > 0 && (
              <rect
                key={hour}
                class="bar"
                x={x(at) - band * 0.36}
                y={y(articles / top)}
                width={band * 0.72}
                height={y(0) - y(articles / top)}
                rx={1.5}
              />
            ),
        )
      }
    />
  )
}

/** A round number that is at least `n`, and even. */
function niceAbove(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(n, 10)))
  return [1, 2, 4, 6, 8, 10].map(step => step * unit).find(top => top >= n) ?? n
}
