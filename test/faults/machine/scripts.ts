import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Runs a script of the repository as a person would; returns what it printed. */
export async function runScript(env: NodeJS.ProcessEnv, name: string, ...args: string[]): Promise<string> {
  const file = fileURLToPath(new URL(`../../../scripts/${name}.ts`, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { env, maxBuffer: 512 * 1024 * 1024 })
  return stdout
}
