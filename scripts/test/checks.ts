import { spawn } from 'node:child_process'

/**
 * Runs a check (types, style) of the installed tools. Prints its output only when it fails.
 * @returns whether it passed
 */
export async function check(name: string, args: readonly string[], print: (line: string) => void): Promise<boolean> {
  const began = Date.now()
  const tool = spawn(`node_modules/.bin/${args[0]}`, args.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [tool.stdout, tool.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const passed = await new Promise<boolean>(resolve => {
    tool.once('error', error => {
      output += error.message
      resolve(false)
    })
    tool.once('close', code => resolve(code === 0))
  })
  print(`${passed ? 'ok' : 'FAILED'} ${name} ${((Date.now() - began) / 1_000).toFixed(1)} s`)
  if (!passed) print(output.trimEnd())
  return passed
}
