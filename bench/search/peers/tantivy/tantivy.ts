import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTool } from '../../../../infra/embedded/supervision/tool.ts'
import { filterWords, type Orders, type PeerDocument } from '../documents.ts'
import { type EngineAnswer, type ExpressedQuestion, expressed, pageOf, riseOf } from '../expression.ts'
import { type Running, startLines } from '../line-program.ts'
import type { Peer } from '../peer.ts'
import { diskMb, memoryMb } from '../usage.ts'

const VERSION = '0.27.0'
const SCRIPT = fileURLToPath(new URL('./tantivy.py', import.meta.url))
const INSTALL_MS = 120_000

/** The program sends this when it is ready. */
interface Greeting {
  documents: number
  segments?: number
}

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
  running: Running,
): Promise<Peer | null> {
  const python = await install(folder, running)
  if (python === null) return null
  const index = join(folder, name)
  const unfinished = `${index}.new`
  const built = existsSync(index)
  if (!built) await mkdir(unfinished, { recursive: true })
  const start = (command: 'build' | 'serve', path: string) =>
    startLines('tantivy', python, ['-I', SCRIPT, command, path], running, { keeps: command === 'build' })
  let program = start(built ? 'serve' : 'build', built ? index : unfinished)
  const greeting = await program.line<Greeting>()
  let segments = greeting.segments ?? 0
  return {
    key: 'tantivy',
    title: `tantivy ${VERSION} (PyPI)`,
    get settings() {
      return `Python binding, timed in its process; ${segments} segments; filters as words; order by fast field; one thread`
    },
    built,
    present: greeting.documents,
    async add(documents) {
      for (const document of documents) await program.write(lineOf(document, orders))
    },
    async finish() {
      await program.write('end')
      await program.line<Greeting>()
      program.end()
      await program.ended
      await rename(unfinished, index)
      program = start('serve', index)
      segments = (await program.line<Greeting>()).segments ?? 0
    },
    async ask(question) {
      const asked = expressed(question, orders)
      await program.write(JSON.stringify({ ...asked, query: behind(asked, orders) }))
      return pageOf(await program.line<EngineAnswer>(), asked, orders)
    },
    async size() {
      return { memory: memoryMb([program.pid ?? 0]), disk: await diskMb(index) }
    },
    async close() {
      program.end()
      await program.ended
    },
  }
}

async function install(folder: string, { family, signal, report }: Running): Promise<string | null> {
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

function lineOf(document: PeerDocument, orders: Orders): string {
  const { place, turn, title, body, titleKeys, keys, row } = document
  return JSON.stringify({
    ...{ place, rise: riseOf(place, orders), turn, row },
    ...{ title: title.join(' '), body: body.join(' ') },
    ...{ title_keys: titleKeys.join(' '), keys: keys.join(' '), filters: filterWords(document).join(' ') },
  })
}

/** The binding cannot begin a page behind a value, so the expression says it. */
function behind({ query, by, ascending, after }: ExpressedQuestion, orders: Orders) {
  if (after === null) return query
  const range = ascending ? ['range', by, after + 1, 2 * orders.rows + 1] : ['range', by, 0, after]
  return [
    'boolean',
    [
      ['and', query],
      ['and', range],
    ],
  ]
}
