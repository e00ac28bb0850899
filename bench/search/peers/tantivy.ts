import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Family } from '../../../infra/embedded/supervision/family.ts'
import { runTool } from '../../../infra/embedded/supervision/tool.ts'
import { filterWords, type Orders, type PeerDocument } from './documents.ts'
import type { Peer } from './peer.ts'
import { filtersOf, type PeerQuestion } from './questions.ts'

const VERSION = '0.27.0'
const SCRIPT = fileURLToPath(new URL('./tantivy.py', import.meta.url))
const INSTALL_MS = 120_000

/**
 * tantivy, the search library in Rust, through its Python binding, in a process of its own. Filters
 * are words; pages are ordered by a fast field, since the binding cannot stop early in an order of
 * documents.
 *
 * @param folder for its environment, and beside it the index
 * @returns null, with a sentence to `report`, where it cannot be installed
 */
export async function openTantivy(
  folder: string,
  name: string,
  orders: Orders,
  running: { family: Family; signal: AbortSignal; report: (sentence: string) => void },
): Promise<Peer | null> {
  const python = await install(folder, running)
  if (python === null) return null
  const index = join(folder, name)
  const unfinished = `${index}.new`
  const built = existsSync(index)
  let program: Program | null = null
  if (!built) {
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished, { recursive: true })
    program = start(python, ['build', unfinished], running)
  }
  let segments: unknown = '?'
  const serve = async () => {
    program = start(python, ['serve', index], running)
    segments = (await program.line()).segments
  }
  if (built) await serve()
  return {
    key: 'tantivy',
    title: `tantivy ${VERSION} (PyPI)`,
    get settings() {
      return `Python binding, timed in its process; ${segments} segments; filters as words; order by fast field; one thread`
    },
    built,
    async add(documents) {
      for (const document of documents) await program!.write(lineOf(document, orders))
    },
    async finish() {
      program!.end()
      await program!.line()
      await program!.ended
      await rename(unfinished, index)
      await serve()
    },
    async ask(question) {
      await program!.write(JSON.stringify(asked(question, orders)))
      const { places, count, ms } = (await program!.line()) as { places: number[]; count: number | null; ms: number }
      const seqOf = question.sort === 'ingested_at' ? orders.seqOfTurn : orders.seqOfPlace
      return {
        // In ascending order, articles without a date follow the last place.
        seqs: places.map(place => seqOf[place > orders.rows ? place - orders.rows : place]!),
        total: question.cap === null ? null : Math.min(count ?? 0, question.cap),
        ms,
      }
    },
    async close() {
      program?.end()
      await program?.ended
    },
  }
}

async function install(
  folder: string,
  { family, signal, report }: { family: Family; signal: AbortSignal; report: (sentence: string) => void },
): Promise<string | null> {
  const environment = join(folder, `venv-${VERSION}`)
  const python = join(environment, 'bin', 'python')
  if (existsSync(join(environment, 'installed'))) return python
  await rm(environment, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const run = async (command: string, args: string[]) =>
    runTool(command, args, { family, signal, within: INSTALL_MS, cwd: folder })
  try {
    const steps: [string, string[]][] = [
      ['python3', ['-m', 'venv', environment]],
      [python, ['-m', 'pip', 'install', '--quiet', '--no-input', '--only-binary', ':all:', `tantivy==${VERSION}`]],
    ]
    for (const [command, args] of steps) {
      const { code, output } = await run(command, args)
      if (code !== 0) throw new Error(output.trim().split('\n').at(-1) ?? 'it failed')
    }
    await mkdir(join(environment, 'installed'))
    return python
  } catch (error) {
    signal.throwIfAborted()
    report(`tantivy is left out: it could not be installed (${error instanceof Error ? error.message : error}).`)
    return null
  }
}

interface Program {
  /** Waits while the program has unread input. */
  write(line: string): Promise<void>
  /** The next line of the program's output. */
  line(): Promise<Record<string, unknown>>
  end(): void
  ended: Promise<unknown>
}

function start(python: string, args: string[], { family, signal }: { family: Family; signal: AbortSignal }): Program {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(python, ['-I', SCRIPT, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C reaches only this process
  })
  const { pid } = child
  if (pid !== undefined) family.adopt(pid, 'SIGTERM')
  const kill = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const ended = new Promise<void>(resolve => {
    child.once('close', () => {
      if (pid !== undefined) family.release(pid)
      signal.removeEventListener('abort', kill)
      resolve()
    })
    child.once('error', () => resolve())
  })
  child.stdin.on('error', () => {}) // the missing answer reports it
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async write(line) {
      if (child.stdin.write(`${line}\n`)) return
      await Promise.race([once(child.stdin, 'drain'), ended])
    },
    async line() {
      const { value, done } = await lines.next()
      signal.throwIfAborted()
      if (done === true) throw new Error('tantivy ended; see what it wrote above.')
      return JSON.parse(value)
    },
    end: () => void child.stdin.end(),
    ended,
  }
}

function lineOf(document: PeerDocument, orders: Orders): string {
  const { place, turn, title, body, titleKeys, keys } = document
  return JSON.stringify({
    ...{ place, rise: place <= orders.undated ? orders.rows + place : place, turn },
    ...{ title: title.join(' '), body: body.join(' ') },
    ...{ title_keys: titleKeys.join(' '), keys: keys.join(' '), filters: filterWords(document).join(' ') },
  })
}

type Node =
  | ['all']
  | ['term', string, string]
  | ['phrase', string, string[]]
  | ['range', string, number, number]
  | ['boolean', ['and' | 'or' | 'not', Node][]]

const all = (parts: Node[]): Node => (parts.length === 1 ? parts[0]! : ['boolean', parts.map(part => ['and', part])])
const any = (parts: Node[]): Node => (parts.length === 1 ? parts[0]! : ['boolean', parts.map(part => ['or', part])])

function asked(question: PeerQuestion, orders: Orders) {
  const { sort, order, limit, cap, after, places, turnFrom } = question
  const by = sort === 'ingested_at' ? 'turn' : order === 'asc' ? 'rise' : 'place'
  const parts: Node[] = [...matchOf(question), ...filtersOf(question).map(words => any(words.map(filter)))]
  const last = 2 * orders.rows + 1
  if (places !== null) parts.push(['range', 'place', places.from, places.to])
  if (turnFrom !== null) parts.push(['range', 'turn', turnFrom, last])
  if (after !== null) {
    const at = sort === 'ingested_at' ? after.turn : after.place
    const reached = by === 'rise' && at <= orders.undated ? orders.rows + at : at
    parts.push(order === 'asc' ? ['range', by, reached + 1, last] : ['range', by, 0, reached])
  }
  return {
    query: parts.length === 0 ? ['all'] : all(parts),
    limit,
    counting: cap !== null,
    by,
    ascending: order === 'asc',
  }
}

const filter = (word: string): Node => ['term', 'filters', word]

function matchOf({ match, scope }: PeerQuestion): Node[] {
  if (match.kind === 'all') return []
  if (match.kind === 'keys') {
    const field = scope === 'title' ? 'title_keys' : 'keys'
    return [any(match.keys.map(key => ['term', field, key]))]
  }
  const fields = scope === 'title' ? ['title'] : ['title', 'body']
  const phrase = (words: string[]): Node =>
    any(fields.map(field => (words.length === 1 ? ['term', field, words[0]!] : ['phrase', field, words])))
  const required = match.required.map(phrase)
  if (match.excluded.length === 0) return required
  const boolean: ['and' | 'not', Node][] = [
    ...required.map((part): ['and', Node] => ['and', part]),
    ...match.excluded.map((words): ['not', Node] => ['not', phrase(words)]),
  ]
  return [['boolean', boolean]]
}
