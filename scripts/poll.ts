import { open } from 'node:fs/promises'
import type { PollQuery, PollState } from '../clients/typescript/src/index.ts'
import { readIfThere, writeWhole } from '../infra/embedded/files.ts'
import { parseDuration } from '../shared/config/values.ts'
import { counted, printable } from '../shared/log/printable.ts'
import { type CommandContext, runCommand, UsageError } from '../shared/process/command.ts'
import { CONNECTION_OPTIONS, queryOptions, readQuery, withApi } from './terminal/api-options.ts'

await runCommand(
  {
    name: 'poll',
    about:
      'Follows new articles by the contract and writes each once, as NDJSON. It keeps its place in a file. With --out each article is written exactly once, even after a kill; on standard output the last page may then come again. PARAMETERS are those of /v1/articles, such as --q and --country.',
    usage: [
      '--place FILE [--out FILE] [--every 1m | --once] [--since TIME] [PARAMETERS] [--url URL] [--key KEY] [--json]',
    ],
    options: {
      place: { type: 'string', about: 'file that keeps the place; made when there is none', value: 'FILE' },
      out: { type: 'string', about: 'file to append to instead of standard output', value: 'FILE' },
      every: { type: 'string', about: 'pause between two polls; 1m by default', value: 'DURATION' },
      json: { type: 'boolean', about: 'JSON lines, as always' },
      once: { type: 'boolean', about: 'polls once and ends' },
      since: { type: 'string', about: 'start of a new place; by default all articles of the plan', value: 'TIME' },
      // Polling fixes these parameters.
      ...queryOptions(['sort', 'order', 'per_page', 'ingested_after']),
      ...CONNECTION_OPTIONS,
    },
    beside: true,
  },
  run,
)

async function run(context: CommandContext): Promise<void> {
  const { options, signal } = context
  if (typeof options.place !== 'string') throw new UsageError('Name the file that keeps the place: --place FILE.')
  const every = parseDuration(typeof options.every === 'string' ? options.every : '1m')
  if (every === null) throw new UsageError('--every is a duration such as 30s or 5m.')
  const query = readQuery(options)
  if (query.search === 'semantic') {
    throw new UsageError('Poll with keyword or boolean search: by meaning, articles are found only hours later.')
  }
  const since =
    typeof options.since === 'string' ? readQuery({ 'ingested-after': options.since }).ingested_after : undefined
  const own = { since: since ?? undefined, every: options.once === true ? undefined : every }
  try {
    await follow(context, options.place, query, own)
  } catch (error) {
    // The signal broke off a wait or a request. The kept place is that of the page before.
    if (!signal.aborted) throw error
  }
}

async function follow(
  context: CommandContext,
  file: string,
  query: PollQuery,
  own: { since: string | Date | undefined; every: number | undefined },
): Promise<void> {
  const { options, say } = context
  const written = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
  const place = await readPlace(file, sorted(new URLSearchParams(written).toString()))
  const out = typeof options.out === 'string' ? options.out : null
  const output = await openOutput(out, place)
  // A poller that goes on waits for the API. A single poll reports the failure.
  const retries = own.every === undefined ? 5 : Number.POSITIVE_INFINITY
  let articlesWritten = 0
  let isNew = place.state === null
  try {
    await withApi(context, retries, async client => {
      for await (const { articles, state } of client.poll(query, { ...own, state: place.state })) {
        if (isNew) {
          // After a kill within the first page, the next run knows where the file began.
          const ingested_after = own.since instanceof Date ? own.since.toISOString() : (own.since ?? null)
          const start = { query: state.query, ingested_after, ids: [], etag: null }
          await keepPlace(file, { state: start, bytes: await output.write('') })
          isNew = false
        }
        const bytes = await output.write(articles.map(article => `${JSON.stringify(article)}\n`).join(''))
        await keepPlace(file, { state, bytes })
        articlesWritten += articles.length
        if (out !== null && articles.length > 0 && own.every !== undefined) {
          say(`Wrote ${counted(articles.length, 'article')} to ${out}.`)
        }
      }
    })
    if (out !== null && own.every === undefined) say(`Wrote ${counted(articlesWritten, 'new article')} to ${out}.`)
  } finally {
    await output.close()
  }
}

interface Output {
  /** Returns the bytes written so far, over all runs. */
  write(text: string): Promise<number>
  close(): Promise<void>
}

/**
 * Truncates the file to the place first. A killed run may have written more, and those articles
 * come again.
 */
async function openOutput(path: string | null, place: Place): Promise<Output> {
  let bytes = place.bytes
  if (path === null) {
    return {
      async write(text) {
        await new Promise<void>((resolve, reject) =>
          process.stdout.write(printable(text), error => (error ? reject(error) : resolve())),
        )
        bytes += Buffer.byteLength(text)
        return bytes
      },
      close: async () => {},
    }
  }
  const handle = await open(path, 'a')
  const { size } = await handle.stat()
  // A new place leaves what stands there already.
  if (place.state === null) bytes = size
  if (size < bytes) {
    throw new Error(`${path} is shorter than its place says; begin with a new place and a new file.`)
  }
  await handle.truncate(bytes)
  return {
    async write(text) {
      await handle.appendFile(text)
      await handle.sync()
      bytes += Buffer.byteLength(text)
      return bytes
    },
    close: () => handle.close(),
  }
}

/** Where `npm run poll` stands. */
interface Place {
  /** Null before the first answer. */
  state: PollState | null
  /** Bytes written to the output file by then. */
  bytes: number
}

/** As it stands in the file. Files of earlier versions have no `etag`. */
interface KeptPlace {
  /** The search that it belongs to: another one needs another place. */
  query: string
  ingestedAfter: string | null
  ids: string[]
  etag?: string | null
  bytes: number
}

/** The place kept in a file; a new one when there is none. */
async function readPlace(file: string, query: string): Promise<Place> {
  const text = await readIfThere(file)
  if (text === null) return { state: null, bytes: 0 }
  const { query: own, ingestedAfter, ids, etag = null, bytes }: KeptPlace = JSON.parse(text)
  if (sorted(own) !== query) {
    throw new Error(`${file} is the place of another question (${own}); name another file for this one.`)
  }
  return { state: { query, ingested_after: ingestedAfter, ids, etag }, bytes }
}

/** Keeps the place; a crash leaves the old one or the new one. */
async function keepPlace(file: string, { state, bytes }: { state: PollState; bytes: number }): Promise<void> {
  const { query, ingested_after: ingestedAfter, ids, etag } = state
  const kept: KeptPlace = { query, ingestedAfter, ids, etag, bytes }
  await writeWhole(file, `${JSON.stringify(kept)}\n`, 0o666)
}

/** A query with its parameters in order: earlier versions kept them as they were typed. */
function sorted(query: string): string {
  const parameters = new URLSearchParams(query)
  parameters.sort()
  return parameters.toString()
}
