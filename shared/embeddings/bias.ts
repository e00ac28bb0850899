import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'

/**
 * The bias of a model: mean vectors that tell nothing about the meaning of a text. It has three
 * parts. The first is common to all vectors. The second distinguishes search terms from passages.
 * The third is common to all vectors of one language. Because of the third, articles in the
 * language of the query rank before the same news in another language. Each part is a direction. It
 * can be removed from a vector without knowing the language of the text (after Yang et al. 2021, "A
 * Simple and Effective Method To Eliminate the Self Language Bias in Multilingual
 * Representations").
 */

/**
 * An orthonormal basis of the directions (Gram–Schmidt). Leaves out directions that depend on
 * others.
 */
export function basisOf(directions: ArrayLike<number>[]): Float64Array[] {
  const basis: Float64Array[] = []
  for (const direction of directions) {
    const rest = Float64Array.from(direction)
    const before = Math.hypot(...rest)
    // The first pass leaves rounding errors. The second pass removes them.
    for (let pass = 0; pass < 2; pass++) for (const axis of basis) subtractAlong(rest, axis)
    const length = Math.hypot(...rest)
    if (length > before * 1e-6) basis.push(rest.map(number => number / length))
  }
  return basis
}

/** The vector without its components along the basis. Its length may be less than 1. */
export function without(basis: Float64Array[], vector: number[]): number[] {
  if (basis.length === 0) return vector
  const rest = Float64Array.from(vector)
  for (const axis of basis) subtractAlong(rest, axis)
  return [...rest]
}

function subtractAlong(vector: Float64Array, axis: Float64Array): void {
  let along = 0
  for (let at = 0; at < vector.length; at++) along += vector[at]! * axis[at]!
  for (let at = 0; at < vector.length; at++) vector[at]! -= along * axis[at]!
}

/** The name of a model in names of files and collections. */
export const slugOf = (model: string): string =>
  (model.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-')

/** The file with a model's measured bias. `npm run measure-bias` writes it. */
export const biasFile = (model: string): URL =>
  new URL(`./bias/${slugOf(model)}.json`, import.meta.url)

/** An orthonormal basis of a model's bias; empty: the bias of the model was not measured. */
export function biasOf(model: string): Float64Array[] {
  const file = biasFile(model)
  if (!existsSync(file)) return []
  const measured: { means: number[][] } = JSON.parse(readFileSync(file, 'utf8'))
  return basisOf(measured.means)
}

/**
 * The version of a model's bias: the first 12 hexadecimal digits of the SHA-256 of its file. Empty:
 * the bias was not measured.
 */
export function biasVersion(model: string): string {
  const file = biasFile(model)
  return existsSync(file) ? hash('sha256', readFileSync(file), 'hex').slice(0, 12) : ''
}
