import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type Artifact, fetchArtifact, findJdk } from '../../../test/java.ts'
import { sum } from '../../figures.ts'
import { filtersOf, filterWords, type PeerDocument, type PeerQuestion } from './documents.ts'
import type { Peer, ShownArticle } from './peer.ts'

/** What Lucene gets from the bench: the family that its process belongs to, and whom it tells. */
export type Running = Parameters<typeof findJdk>[1]

const VERSION = '10.6.0'
const JAR: Artifact = {
  coordinates: `org.apache.lucene:lucene-core:${VERSION}`,
  file: `lucene-core-${VERSION}.jar`,
  sha256: '211424f423ff1afeb891095c2142a20a572e545906251f28b8faaa408d01f934',
}
const PROGRAM = fileURLToPath(new URL('./Lucene.java', import.meta.url))
const HEAP = '1g'
const JVM = [
  `-Xms${HEAP}`,
  `-Xmx${HEAP}`,
  // Lucene uses the vectors of the processor, and warns where they are off.
  '--add-modules=jdk.incubator.vector',
  '--enable-native-access=ALL-UNNAMED',
  // It writes nothing to the terminal but errors.
  '-Djava.util.logging.config.file=/dev/null',
]

/**
 * Lucene in a JVM of its own. Documents are sorted by the order of publication, latest first, so
 * that a search in that order stops early. Filters are terms; nothing is scored.
 *
 * @param folder for its jar and its index
 * @returns null, with a sentence to `report`, where it cannot run
 */
export async function openLucene(folder: string, name: string, running: Running): Promise<Peer | null> {
  const jdk = await findJdk('Lucene', running)
  if (jdk === null) return null
  await mkdir(folder, { recursive: true })
  const jar = await fetchArtifact('Lucene', JAR, folder, running)
  if (jar === null) return null
  const start = async (command: 'build' | 'serve', index: string) => {
    const started = startLines(
      join(jdk, 'bin', 'java'),
      [...JVM, '--class-path', jar, PROGRAM, command, index],
      running,
    )
    await started.line()
    return started
  }
  const index = join(folder, name)
  const unfinished = `${index}.new`
  const built = existsSync(index)
  if (!built) await rm(unfinished, { recursive: true, force: true })
  let program = built ? await start('serve', index) : await start('build', unfinished)
  return {
    key: 'lucene',
    title: `Lucene ${VERSION}: in its own JVM, heap of ${HEAP}, mmap; timed there; sorted by publication; filters as terms; one thread`,
    built,
    async add(documents) {
      for (const document of documents) await program.write(lineOf(document))
    },
    async finish() {
      await program.write('end')
      await program.line()
      await program.end()
      await rename(unfinished, index)
      program = await start('serve', index)
    },
    async ask(question) {
      await program.write(questionLine(question))
      const { rows, count, ms } = await program.line<{ rows: ShownArticle[]; count: number; ms: number }>()
      return { rows, total: question.cap === null ? null : Math.min(count, question.cap), ms }
    },
    pids: async () => [program.pid],
    async disk() {
      const files = (await readdir(index)).map(file => lstat(join(index, file)))
      return sum((await Promise.all(files)).map(file => file.size)) / 1e6
    },
    close: () => program.end(),
  }
}

/** Starts a program that reads lines and answers with lines of JSON. */
function startLines(command: string, args: string[], { family, signal }: Running) {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C reaches only this process
  })
  const { pid = 0 } = child
  if (pid !== 0) family.adopt(pid, 'SIGTERM')
  const kill = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const ended = new Promise<void>(resolve => {
    child.once('error', () => resolve())
    child.once('close', () => {
      if (pid !== 0) family.release(pid)
      signal.removeEventListener('abort', kill)
      resolve()
    })
  })
  child.stdin.on('error', () => {}) // the missing answer reports it
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    pid,
    /** Waits while the program has unread input. */
    async write(line: string) {
      if (!child.stdin.write(`${line}\n`)) await Promise.race([once(child.stdin, 'drain'), ended])
    },
    async line<Answer>(): Promise<Answer> {
      const { value, done } = await lines.next()
      signal.throwIfAborted()
      if (done === true) throw new Error('Lucene ended; see what it wrote above.')
      return JSON.parse(value)
    },
    end() {
      child.stdin.end()
      return ended
    },
  }
}

function lineOf(document: PeerDocument): string {
  const { place, rise, turn, title, body, titleKeys, keys, row } = document
  const texts = [title, body, titleKeys, keys, filterWords(document)].map(words => words.join(' '))
  // JSON has no tab in it.
  return [place, rise, turn, ...texts, row].join('\t')
}

function questionLine(question: PeerQuestion): string {
  const { limit, cap, by, order, after, published, ingested } = question
  const clauses = matchOf(question)
  for (const words of filtersOf(question)) clauses.push(['and', ...terms('filters', words)])
  if (published !== null) clauses.push(['and', 'range', 'place', ...published.places])
  if (ingested !== null) clauses.push(['and', 'range', 'turn', ingested.turn, NO_END])
  return [limit, cap ?? 1, by, order, after?.rank ?? '', ...any(clauses)].join('\t')
}

const NO_END = 2 ** 31

/** A condition as the program reads it: its kind, its field, how many parts it has, its parts. */
type Condition = (string | number)[]

const terms = (field: string, words: string[]): Condition => ['terms', field, words.length, ...words]
const any = (clauses: Condition[]): Condition => ['boolean', clauses.length, ...clauses.flat()]

/** Clauses of a boolean query, each with its occurrence. */
function matchOf({ match, scope }: PeerQuestion): Condition[] {
  if (match.kind === 'all') return []
  if (match.kind === 'keys') return [['and', ...terms(scope === 'title' ? 'title_keys' : 'keys', match.keys)]]
  const fields = scope === 'title' ? ['title'] : ['title', 'body']
  const phrase = (words: string[]): Condition => {
    const places = fields.map(field => ['phrase', field, words.length, ...words])
    return places.length === 1 ? places[0]! : any(places.map(place => ['or', ...place]))
  }
  return [
    ...match.required.map(words => ['and', ...phrase(words)]),
    ...match.excluded.map(words => ['not', ...phrase(words)]),
  ]
}
