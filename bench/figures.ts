/** The figures of a bench, each under its name. */
export type Figures = Record<string, number>

/** Writes a line for people to standard error. Standard output carries only the figures. */
export const say = (line: string): undefined => void process.stderr.write(`${line}\n`)

export const rounded = (value: number, digits = 2): number =>
  Math.round(value * 10 ** digits) / 10 ** digits

export const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

export const mean = (values: number[]): number =>
  values.length === 0 ? 0 : sum(values) / values.length

export const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : rounded((part / whole) * 100)

/** A quantile of the values: this part of them is smaller. */
export function quantile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}

/** Quantiles of times, as figures named `NAMEp50_ms` and `NAMEp95_ms`. */
export const quantiles = (name: string, times: number[], parts: number[] = [0.5, 0.95]): Figures =>
  Object.fromEntries(
    parts.map(part => [`${name}p${part * 100}_ms`, rounded(quantile(times, part))]),
  )

/** The same figures, with `prefix_` before each name. */
export const prefixed = (prefix: string, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}_${name}`, value]))
