import type { Lag } from '../../shared/status/figures.ts'

/** The hour of an instant in the reader's time zone: "14:00". */
export const clock = (instant: string) => CLOCK.format(new Date(instant))

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** Seconds that a lag's axis may name. */
const MARKS: [seconds: number, label: string][] = [
  [1, '1 s'],
  [10, '10 s'],
  [60, '1 min'],
  [600, '10 min'],
  [3_600, '1 h'],
  [21_600, '6 h'],
  [86_400, '1 day'],
  [604_800, '1 week'],
  [2_592_000, '30 days'],
  [31_536_000, '1 year'],
]

/** An hour's lag, with the hour's place among the 24. */
export type Point = Lag & { at: number }

/** A logarithmic axis: seconds and days are told apart in one chart. */
export interface Scale {
  marks: { share: number; label: string }[]
  /** 0 at the bottom of the axis, 1 at its top. */
  shareOf(seconds: number): number
}

/** @param points at least one */
export function scaleOf(points: Point[]): Scale {
  const marks = marksAround(points)
  const first = marks[0]?.[0] ?? 1
  const [low, high] = [Math.log(first), Math.log(marks.at(-1)?.[0] ?? first)]
  const shareOf = (seconds: number) => (Math.log(Math.max(seconds, first)) - low) / (high - low)
  return { marks: marks.map(([seconds, label]) => ({ share: shareOf(seconds), label })), shareOf }
}

/** The marks that all points lie between; two at least. */
function marksAround(points: Point[]) {
  const least = Math.max(1, Math.min(...points.map(({ median }) => median)))
  const most = Math.max(...points.map(({ p95 }) => p95), least)
  const below = MARKS.findLastIndex(([seconds]) => seconds <= least)
  const from = Math.min(Math.max(0, below), MARKS.length - 2)
  const to = MARKS.findIndex(([seconds]) => seconds >= most)
  return MARKS.slice(from, Math.max(to === -1 ? MARKS.length : to + 1, from + 2))
}

/** Hours that follow one another: a gap is shown as a gap. */
export function runsOf(points: Point[]): Point[][] {
  const runs: Point[][] = []
  for (const point of points) {
    const last = runs.at(-1)
    if (last !== undefined && last.at(-1)?.at === point.at - 1) last.push(point)
    else runs.push([point])
  }
  return runs
}
