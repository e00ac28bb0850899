import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

/** Runs any program to its end. */
export const run = promisify(execFile)

/** Whether work comes to a good end. */
export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

/** What a command has written when it ended. */
export interface Ran {
  /** Its exit code, or the signal that ended it. */
  code: number | NodeJS.Signals | null
  out: string
  err: string
}

/** A command at work; `out` and `err` are what it has written so far. */
export interface Running {
  child: ChildProcessWithoutNullStreams
  out(): string
  err(): string
  ended: Promise<Ran>
}

/**
 * Starts a program of this checkout as a person would.
 *
 * @param program a command of `scripts/`, or the path of a program, from here or absolute
 * @param env on top of this process's own
 * @param input what it reads; a stream may come slowly
 */
export function startScript(
  program: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
  input: string | Readable = '',
): Running {
  const path = program.includes('/') ? program : `scripts/${program}.ts`
  const child = spawn(
    process.execPath,
    [program.startsWith('/') ? program : new URL(`../${path}`, import.meta.url).pathname, ...args],
    {
      env: { ...process.env, ...env },
    },
  )
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', part => {
    out += part
  })
  child.stderr.setEncoding('utf8').on('data', part => {
    err += part
  })
  // It may end before it has read all.
  child.stdin.on('error', () => {})
  if (typeof input === 'string') child.stdin.end(input)
  else input.pipe(child.stdin)
  const ended = new Promise<Ran>(resolve =>
    child.once('close', (code, signal) => {
      // A fault of V8 or the kernel ends it so, and tests look at the code alone.
      if (signal !== null && !child.killed)
        console.error(`${signal} ended ${[program, ...args].join(' ')}: ${err.slice(-4_000)}`)
      resolve({ code: code ?? signal, out, err })
    }),
  )
  return { child, out: () => out, err: () => err, ended }
}

/** Runs it to its end. */
export const runScript = (...started: Parameters<typeof startScript>): Promise<Ran> =>
  startScript(...started).ended

/**
 * Whether a test file tries all of its cases. Otherwise it tries some of each kind, because the
 * whole takes long (`whole.long.test.ts`).
 */
export const isWhole: boolean = process.env.WHOLE === 'yes'

/**
 * Runs a test file unchanged, with other settings.
 *
 * @param file its path below `test/`, without `.test.ts`
 * @returns the end of its output when it failed; null: it passed
 */
export async function failureOf(file: string, env: Record<string, string>): Promise<string | null> {
  const { code, out, err } = await runScript(`test/${file}.test.ts`, [], {
    TAP_TIMEOUT: '900',
    ...env,
  })
  return code === 0 ? null : (out + err).slice(-4_000)
}

/** The objects of lines of JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each test says by its expectations what a line holds
export const jsonLines = (text: string): any[] =>
  text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line)]))

/** Output of a command of `scripts/` at a terminal where a person answers its question. */
export function answerOnTerminal(
  answer: string,
  name: string,
  words: string[],
  env: Record<string, string>,
): Promise<string> {
  const path = new URL(`../scripts/${name}.ts`, import.meta.url).pathname
  const command = [process.execPath, path, ...words].map(word => `'${word}'`).join(' ')
  return new Promise(resolve => {
    const child = execFile(
      'script',
      ['-qec', command, '/dev/null'],
      { env: { ...process.env, ...env } },
      (_, out) => resolve(out),
    )
    let seen = ''
    child.stdout?.on('data', (text: string) => {
      const asked = seen.includes('[y/N]')
      seen += text
      if (!asked && seen.includes('[y/N]')) child.stdin?.write(`${answer}\n`)
    })
  })
}
