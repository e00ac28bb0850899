import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'

/** The path of a file below `infra/ha`, which operators copy: scenarios run on the same files. */
export const operatorsFile = (name: string): string =>
  fileURLToPath(new URL(`../../../infra/ha/${name}`, import.meta.url))

/**
 * A file of directives below `infra/ha` (Redis, Sentinel) with the run's own values.
 *
 * @param values by directive. The file has exactly these, so that nothing works here for a line
 *   that operators are not told of.
 */
export function operatorsLines(name: string, values: Readonly<Record<string, string>>): string[] {
  const left = new Map(Object.entries(values))
  const lines = readFileSync(operatorsFile(name), 'utf8').split('\n')
  const filled = lines
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const [directive, value] =
        [...left].find(([directive]) => line.startsWith(`${directive} `)) ?? []
      if (directive === undefined)
        throw new Error(`infra/ha/${name} has "${line}", for which the scenario has no value.`)
      left.delete(directive)
      return `${directive} ${value}`
    })
  if (left.size > 0)
    throw new Error(`infra/ha/${name} lacks a line "${[...left.keys()].join('" and "')}".`)
  return filled
}

/** The shell script that a unit below `infra/ha/systemd` starts. */
export function unitScript(unit: string): string {
  const text = readFileSync(operatorsFile(`systemd/${unit}`), 'utf8')
  const [, script] = /^ExecStart=\/bin\/sh -euc '([^']+)'$/m.exec(text) ?? []
  if (script === undefined) throw new Error(`infra/ha/systemd/${unit} starts no shell script.`)
  return script
}

/** The settings of a file of lines NAME=VALUE below `infra/ha`. */
export function operatorsSettings(name: string): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const [key, value] of Object.entries(parseEnv(readFileSync(operatorsFile(name), 'utf8')))) {
    if (value !== undefined) settings[key] = value
  }
  return settings
}

/**
 * The settings of a file that an operator fills in for each host, with a scenario's values in place
 * of its examples.
 *
 * @throws Error when the file and the values do not name the same settings
 */
export function filledSettings(
  name: string,
  values: Record<string, string>,
): Record<string, string> {
  const inFile = Object.keys(operatorsSettings(name)).sort().join(' ')
  const given = Object.keys(values).sort().join(' ')
  if (inFile !== given)
    throw new Error(`infra/ha/${name} has the settings ${inFile}; the scenario sets ${given}.`)
  return values
}
