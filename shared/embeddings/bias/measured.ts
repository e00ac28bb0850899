import { existsSync, readFileSync } from 'node:fs'
import { basisOf } from './removal.ts'

/** The file of a model's measured bias: `npm run measure-bias` writes it. */
export function biasFile(model: string): URL {
  const slug = (model.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return new URL(`./${slug}.json`, import.meta.url)
}

/** An orthonormal basis of a model's bias; empty for a model without a measurement. */
export function biasOf(model: string): Float64Array[] {
  const file = biasFile(model)
  if (!existsSync(file)) return []
  const measured: { means: number[][] } = JSON.parse(readFileSync(file, 'utf8'))
  return basisOf(measured.means)
}
