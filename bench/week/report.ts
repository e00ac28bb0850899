import { mkdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { picture } from '../mixed/picture.ts'
import { quantile } from '../search/measure.ts'
import type { Sample } from './sample.ts'

/** Of one article: the hour of its publication, and simulated minutes until it was searchable. */
export interface Lag {
  hour: number
  minutes: number
}

const HOURS = 7 * 24

export function figuresOf(samples: Sample[], lags: Lag[], published: number): Record<string, number> {
  const minutes = lags.map(lag => lag.minutes)
  const half = HOURS / 2
  const p95 = (some: Lag[]) =>
    quantile(
      some.map(lag => lag.minutes),
      0.95,
    )
  return {
    published,
    missed: published - lags.length,
    lag_p50_min: rounded(quantile(minutes, 0.5)),
    lag_p95_min: rounded(quantile(minutes, 0.95)),
    lag_p99_min: rounded(quantile(minutes, 0.99)),
    lag_worst_min: rounded(quantile(minutes, 1)),
    // A lag that grows over the week would mean that the crawl does not keep up.
    lag_first_half_p95_min: rounded(p95(lags.filter(lag => lag.hour < half))),
    lag_second_half_p95_min: rounded(p95(lags.filter(lag => lag.hour >= half))),
    due_p50: quantile(
      samples.map(sample => sample.due),
      0.5,
    ),
    due_worst: Math.max(...samples.map(sample => sample.due)),
    stored_worst: Math.max(...samples.map(sample => sample.stored)),
  }
}

/** Draws depth and lag by the hours of the week. */
export async function drawWeek(folder: string, samples: Sample[], lags: Lag[]): Promise<void> {
  const place = resolve(folder)
  await mkdir(place, { recursive: true })
  const byHour = <T extends { hour: number }>(some: T[], of: (those: T[]) => number) => {
    const grouped = Map.groupBy(some, one => Math.floor(one.hour))
    return Array.from({ length: HOURS }, (_, hour) => {
      const those = grouped.get(hour)
      return those === undefined ? null : of(those)
    })
  }
  const depth = [
    { name: 'pages due', values: byHour(samples, those => Math.max(...those.map(one => one.due))) },
    { name: 'pages stored', values: byHour(samples, those => Math.max(...those.map(one => one.stored))) },
  ]
  const lag = [0.5, 0.95].map(part => ({
    name: `p${part * 100}`,
    values: byHour(lags, those =>
      quantile(
        those.map(one => one.minutes),
        part,
      ),
    ),
  }))
  await writeFile(`${place}/depth-by-hour.svg`, picture('Most pages that waited, by hour', '', depth, 'hour'))
  await writeFile(`${place}/lag-by-hour.svg`, picture('Time from publication to search, by hour', 'min', lag, 'hour'))
}

const rounded = (value: number) => Math.round(value * 100) / 100
