import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { CHECKOUT } from './image.ts'

/** A service of docker-compose.yml, with its variables resolved. */
export interface ComposeService {
  command?: string[]
  environment?: Record<string, string>
  healthcheck?: { test?: string[] }
}

/**
 * Reads docker-compose.yml as Compose does with these variables (Compose Specification,
 * "Interpolation").
 */
export function readCompose(variables: Record<string, string>): Record<string, ComposeService> {
  const text = readFileSync(join(CHECKOUT, 'docker-compose.yml'), 'utf8')
  const { services } = parse(text, { merge: true })
  return JSON.parse(JSON.stringify(services), (_, value) =>
    typeof value === 'string' ? interpolate(value, variables) : value,
  )
}

/** `${NAME}`, `${NAME:-default}`, `${NAME-default}`, `${NAME:?complaint}` and `$$`. */
function interpolate(text: string, variables: Record<string, string>): string {
  return text.replace(
    /\$\$|\$\{(\w+)(?:(:?)([-?])([^}]*))?\}/g,
    (whole, name, colon, kind, rest) => {
      if (whole === '$$') return '$'
      const value = variables[name]
      const isSet = colon === ':' ? (value ?? '') !== '' : value !== undefined
      if (isSet || kind === undefined) return value ?? ''
      if (kind === '?') throw new Error(`${name}: ${rest}`)
      return rest
    },
  )
}
