/** The figures of a bench by their names. */
export type Figures = Record<string, number>

/** Tells people something on standard error; standard output carries the figures alone. */
export const say = (line: string) => void process.stderr.write(`${line}\n`)

export const rounded = (value: number, digits = 2) => Math.round(value * 10 ** digits) / 10 ** digits

export const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

export const mean = (values: number[]) => (values.length === 0 ? 0 : sum(values) / values.length)

export const percent = (part: number, whole: number) => (whole === 0 ? 0 : rounded((part / whole) * 100))

/** Of the sorted values, the one so far up. */
export function quantile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}

/** Quantiles of times as figures: `NAMEp50_ms`, `NAMEp95_ms`. */
export const quantiles = (name: string, times: number[], parts = [0.5, 0.95]): Figures =>
  Object.fromEntries(parts.map(part => [`${name}p${part * 100}_ms`, rounded(quantile(times, part))]))

/** The same figures with another beginning of their names. */
export const prefixed = (prefix: string, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}_${name}`, value]))
