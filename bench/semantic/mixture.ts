import type { Random } from '../search/random.ts'

/** A mixture of two real vectors and noise, near to both, as news articles are near to others. */
export function mixture(real: number[][], random: Random): number[] {
  const [a, b] = [random.one(real), random.one(real)]
  const share = 0.5 + random.next() / 2
  const noise = 0.35 / Math.sqrt(a.length)
  const mixed = a.map((number, at) => share * number + (1 - share) * b[at]! + noise * gauss(random))
  const length = Math.hypot(...mixed)
  return mixed.map(number => number / length)
}

/** Normally distributed (Box and Muller). */
function gauss(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
}
