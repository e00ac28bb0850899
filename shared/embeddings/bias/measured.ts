import { existsSync, readFileSync } from 'node:fs'
import { basisOf } from './removal.ts'

/** Where the measured directions of a model are kept: `npm run directions` writes it. */
export function directionsFile(model: string): URL {
  const slug = (model.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return new URL(`./${slug}.json`, import.meta.url)
}

/** The basis of a model's directions; empty for a model that nobody measured. */
export function directionsOf(model: string): Float64Array[] {
  const file = directionsFile(model)
  if (!existsSync(file)) return []
  const measured: { means: number[][] } = JSON.parse(readFileSync(file, 'utf8'))
  return basisOf(measured.means)
}
