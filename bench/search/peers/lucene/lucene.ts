import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Artifact, fetchArtifact, findJdk } from '../../../../test/java.ts'
import { filterWords, type Orders, type PeerDocument } from '../documents.ts'
import { type ExpressedQuestion, type Expression, expressed, pageOf, riseOf } from '../expression.ts'
import { type LineProgram, type Running, startLines } from '../line-program.ts'
import type { Peer } from '../peer.ts'

const VERSION = '10.6.0'
const JAR: Artifact = {
  coordinates: `org.apache.lucene:lucene-core:${VERSION}`,
  file: `lucene-core-${VERSION}.jar`,
  sha256: '211424f423ff1afeb891095c2142a20a572e545906251f28b8faaa408d01f934',
}
const PROGRAM = fileURLToPath(new URL('./Lucene.java', import.meta.url))
const HEAP = '1g'

/**
 * Lucene in a JVM of its own. Documents are sorted by the order of publication, latest first, so
 * that a search in that order stops early. Filters are terms; nothing is scored.
 *
 * @param folder for its jar and its index
 * @returns null, with a sentence to `report`, where it cannot run
 */
export async function openLucene(folder: string, name: string, orders: Orders, running: Running): Promise<Peer | null> {
  const jdk = await findJdk('Lucene', running)
  if (jdk === null) return null
  await mkdir(folder, { recursive: true })
  const jar = await fetchArtifact('Lucene', JAR, folder, running)
  if (jar === null) return null
  const start = (command: 'build' | 'serve', index: string) =>
    startLines('Lucene', join(jdk, 'bin', 'java'), [...JVM, '--class-path', jar, PROGRAM, command, index], running)
  const index = join(folder, name)
  const unfinished = `${index}.new`
  const built = existsSync(index)
  if (!built) await rm(unfinished, { recursive: true, force: true })
  const program = start(built ? 'serve' : 'build', built ? index : unfinished)
  const { segments } = await program.line<Greeting>()
  return peerOf({ index, unfinished, orders, start, program, segments: segments ?? 0, built })
}

const JVM = [
  `-Xms${HEAP}`,
  `-Xmx${HEAP}`,
  // Lucene uses the vectors of the processor, and warns where they are off.
  '--add-modules=jdk.incubator.vector',
  '--enable-native-access=ALL-UNNAMED',
  // It writes nothing to the terminal but errors.
  '-Djava.util.logging.config.file=/dev/null',
]

/** The program sends this when it is ready. */
interface Greeting {
  segments?: number
}

interface OpenIndex {
  index: string
  unfinished: string
  orders: Orders
  start: (command: 'build' | 'serve', index: string) => LineProgram
  program: LineProgram
  segments: number
  built: boolean
}

function peerOf(open: OpenIndex): Peer {
  const { index, unfinished, orders, start, built } = open
  return {
    key: 'lucene',
    title: `Lucene ${VERSION}`,
    get settings() {
      return `in its own JVM, heap of ${HEAP}, mmap; timed there; ${open.segments} segments, not merged by force, sorted by publication; filters as terms; top field collector that counts to the cap; one thread`
    },
    built,
    async add(documents) {
      for (const document of documents) await open.program.write(lineOf(document, orders))
    },
    async finish() {
      await open.program.write('end')
      await open.program.line<Greeting>()
      open.program.end()
      await open.program.ended
      await rename(unfinished, index)
      open.program = start('serve', index)
      open.segments = (await open.program.line<Greeting>()).segments ?? 0
    },
    async ask(question) {
      const asked = expressed(question, orders)
      await open.program.write(questionLine(asked))
      return pageOf(await open.program.line(), asked, orders)
    },
    async close() {
      open.program.end()
      await open.program.ended
    },
  }
}

function lineOf(document: PeerDocument, orders: Orders): string {
  const { place, turn, title, body, titleKeys, keys, row } = document
  const texts = [title, body, titleKeys, keys, filterWords(document)].map(words => words.join(' '))
  // JSON has no tab in it.
  return [place, riseOf(place, orders), turn, ...texts, row].join('\t')
}

function questionLine({ query, limit, cap, by, ascending, after }: ExpressedQuestion): string {
  return [limit, cap ?? 1, by, ascending ? 'asc' : 'desc', after ?? '', ...parts(query)].join('\t')
}

function parts(expression: Expression): (string | number)[] {
  const [kind] = expression
  if (kind === 'all' || kind === 'term' || kind === 'range') return [...expression]
  if (kind === 'boolean')
    return [kind, expression[1].length, ...expression[1].flatMap(([occur, part]) => [occur, ...parts(part)])]
  const [, field, words] = expression
  return [kind, field, words.length, ...words]
}
