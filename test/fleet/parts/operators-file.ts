import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'

/** The path of a file below `infra/ha`, which operators copy: scenarios run on the same files. */
export const operatorsFile = (name: string): string =>
  fileURLToPath(new URL(`../../../infra/ha/${name}`, import.meta.url))

/** The settings of a file of lines NAME=VALUE below `infra/ha`. */
export function operatorsSettings(name: string): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const [key, value] of Object.entries(parseEnv(readFileSync(operatorsFile(name), 'utf8')))) {
    if (value !== undefined) settings[key] = value
  }
  return settings
}
