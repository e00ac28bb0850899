import { spawn } from 'node:child_process'

/** `npm run keys -- …` with these settings; its exit code and what it wrote. */
export function keysCommand(
  settings: Record<string, string>,
): (...args: string[]) => Promise<{ code: number | null; out: string; err: string }> {
  return (...args) => {
    const child = spawn(process.execPath, [new URL('../../scripts/keys.ts', import.meta.url).pathname, ...args], {
      env: { ...process.env, ...settings },
    })
    let out = ''
    let err = ''
    child.stdout.on('data', part => {
      out += part
    })
    child.stderr.on('data', part => {
      err += part
    })
    return new Promise(resolve => child.once('close', code => resolve({ code, out, err })))
  }
}
