export const rounded = (value: number) => Math.round(value * 100) / 100

/** The middle of some figures, the mean of the two middle ones when their number is even. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return rounded(sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2)
}
