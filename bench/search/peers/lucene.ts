import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { say, sum } from '#bench/figures'
import type { Bench } from '#bench/servers'
import { COUNTRIES } from '#shared/articles/article'
import { type Artifact, fetchArtifact, findJdk } from '#test/java'
import type { PeerDocument, PeerQuestion } from './documents.ts'
import type { Peer, ShownArticle } from './peer.ts'

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
  // Lucene uses the vector instructions of the processor, and warns when the JVM does not offer
  // them.
  '--add-modules=jdk.incubator.vector',
  '--enable-native-access=ALL-UNNAMED',
  // The JVM writes only errors to the terminal.
  '-Djava.util.logging.config.file=/dev/null',
]

/**
 * Runs Lucene in a JVM of its own, on machines where it can run. Documents are sorted by time of
 * publication, the latest first, so that a search in that order can stop early. Filters are terms,
 * and Lucene computes no scores.
 */
export async function withLucene(
  bench: Bench,
  measure: (peer: Peer) => Promise<void>,
): Promise<void> {
  const running = { family: bench.servers.family, signal: bench.signal, report: say }
  const folder = join(bench.dataDir.path, 'lucene')
  const jdk = await findJdk('Lucene', running)
  if (jdk === null) return
  await mkdir(folder, { recursive: true })
  const jar = await fetchArtifact('Lucene', JAR, folder, running)
  if (jar === null) return
  const index = join(folder, 'index')
  await rm(index, { recursive: true, force: true })
  const start = (command: 'build' | 'serve') =>
    startLines(
      join(jdk, 'bin', 'java'),
      [...JVM, '--class-path', jar, PROGRAM, command, index],
      bench.signal,
    )
  let program = start('build')
  try {
    await measure({
      key: 'lucene',
      title: `Lucene ${VERSION}: in its own JVM, heap of ${HEAP}, mmap; timed there; filters as terms; one thread`,
      async add(documents) {
        for (const document of documents) await program.write(lineOf(document))
      },
      async finish() {
        await program.end()
        program = start('serve')
        await program.line()
      },
      async ask(question) {
        await program.write(questionLine(question))
        const { rows, count, ms } = await program.line<{
          rows: ShownArticle[]
          count: number
          ms: number
        }>()
        return { rows, total: question.cap === null ? null : Math.min(count, question.cap), ms }
      },
      pids: async () => [program.pid],
      async disk() {
        const files = (await readdir(index)).map(file => lstat(join(index, file)))
        return sum((await Promise.all(files)).map(file => file.size)) / 1e6
      },
    })
  } finally {
    await program.end()
    await rm(index, { recursive: true, force: true })
  }
}

/** Starts a program that answers lines with lines of JSON. It ends when its input ends. */
function startLines(command: string, args: string[], signal: AbortSignal) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  child.stdin.on('error', () => {}) // the missing answer reports the error
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    pid: child.pid ?? 0,
    /** Writes a line. While the program has input that it has not read, this waits. */
    async write(line: string) {
      if (!child.stdin.write(`${line}\n`)) await Promise.race([once(child.stdin, 'drain'), ended])
    },
    async line<Answer>(): Promise<Answer> {
      const { value, done } = await lines.next()
      signal.throwIfAborted()
      if (done === true) throw new Error('Lucene ended; see what it wrote above.')
      return JSON.parse(value)
    },
    async end() {
      child.stdin.end()
      await ended
    },
  }
}

function lineOf(document: PeerDocument): string {
  const { id, published_at, ingested_at, title, body, titleKeys, keys, row } = document
  const { country, language, publisher_no, author_nos } = document
  const authors = [isSigned(author_nos.length > 0), ...author_nos.map(authorWord)]
  const filters = [country, language, outletWord(publisher_no), ...authors]
  const texts = [title, body, titleKeys, keys, filters].map(words => words.join(' '))
  // A tab can separate the fields, because JSON text contains no tab.
  return [published_at?.getTime() ?? '', ingested_at.getTime(), id, ...texts, row].join('\t')
}

const outletWord = (no: number) => `o${no}`
const authorWord = (no: number) => `a${no}`
const isSigned = (has: boolean) => (has ? 'signed' : 'unsigned')

/**
 * Writes a question as a line: first the page, then the conditions. Each condition has four parts:
 * its occurrence, kind, fields and words.
 */
function questionLine(question: PeerQuestion): string {
  const { perPage, cap, sort, order, after, reach, ingestedAfter } = question
  const { countries, languages, hasAuthor, publisherNos, authorNos } = question
  const page = [
    perPage,
    cap ?? 1,
    sort,
    order,
    after === null ? '' : (after.value ?? 'none'),
    after?.id ?? '',
  ]
  const conditions = matchOf(question)
  const filters = [
    countries.length < COUNTRIES.length ? countries : null,
    languages,
    hasAuthor === null ? null : [isSigned(hasAuthor)],
    publisherNos?.map(outletWord),
    authorNos?.map(authorWord),
  ]
  for (const words of filters) if (words) conditions.push(['FILTER', 'terms', 'filters', words])
  const { publishedAfter: from, publishedBefore: to } = reach
  if (from && to)
    conditions.push(['FILTER', 'range', 'published_at', [from.getTime(), to.getTime() + 1]])
  if (ingestedAfter)
    conditions.push(['FILTER', 'range', 'ingested_at', [ingestedAfter.getTime(), NO_END]])
  return [
    ...page,
    ...conditions.flatMap(([occurrence, kind, fields, words]) => [
      occurrence,
      kind,
      fields,
      words.join(' '),
    ]),
  ].join('\t')
}

const NO_END = Number.MAX_SAFE_INTEGER

type Condition = [occurrence: string, kind: string, fields: string, words: (string | number)[]]

function matchOf({ match, searchIn }: PeerQuestion): Condition[] {
  if (match.kind === 'all') return []
  if (match.kind === 'keys')
    return [['FILTER', 'terms', searchIn === 'title' ? 'title_keys' : 'keys', match.keys]]
  const fields = searchIn === 'title' ? 'title' : 'title,body'
  return [
    ...match.required.map((words): Condition => ['FILTER', 'phrase', fields, words]),
    ...match.excluded.map((words): Condition => ['MUST_NOT', 'phrase', fields, words]),
  ]
}
