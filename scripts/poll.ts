import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Client,
  createClient,
  NoAnswerError,
  type PollBatch,
  type PollQuery,
  type PollState,
} from '#clients/typescript/src/index'
import { readIfThere, writeWhole } from '#infra/embedded/files'
import { parseDuration } from '#shared/config/values'
import { counted, printable } from '#shared/log/printable'
import { type CommandContext, runCommand, sentenceOf, UsageError } from '#shared/process/command'
import { queryOptions, readQuery } from './terminal/api-options.ts'

await runCommand(
  {
    name: 'poll',
    about:
      'Follows new articles by the contract and writes each once, as NDJSON. It keeps its place in a file. With --out each article is written exactly once, even after a kill; on standard output the last page may then come again. PARAMETERS are those of /explore/articles, such as --q and --country.',
    usage: [
      '--place FILE [--out FILE] [--every 1m | --once] [--since TIME] [--removals] [PARAMETERS] [--url URL] [--key KEY] [--json]',
    ],
    options: {
      place: { about: 'file that keeps the place; made when there is none', value: 'FILE' },
      out: { about: 'file to append to instead of standard output', value: 'FILE' },
      every: { about: 'pause between two polls; 1m by default', value: 'DURATION' },
      json: { about: 'JSON lines, as always' },
      once: { about: 'polls once and ends' },
      removals: {
        about:
          'also writes {"removed": {"number", "id", "removed_at"}} for each article that was taken out',
      },
      since: { about: 'start of a new place; by default all articles of the plan', value: 'TIME' },
      // A poller sets these parameters itself.
      ...queryOptions(['sort', 'order', 'per_page', 'ingested_after']),
      url: { about: 'address of the API; else PUBLIC_URL, else HOST and PORT', value: 'URL' },
      key: { about: 'API key; else API_KEY, else the one that npm start made', value: 'KEY' },
    },
    beside: true,
  },
  run,
)

async function run(context: CommandContext): Promise<void> {
  const { options, signal } = context
  if (typeof options.place !== 'string')
    throw new UsageError('Name the file that keeps the place: --place FILE.')
  const every = parseDuration(typeof options.every === 'string' ? options.every : '1m')
  if (every === null) throw new UsageError('--every is a duration such as 30s or 5m.')
  const query = readQuery(options)
  const since =
    typeof options.since === 'string'
      ? readQuery({ 'ingested-after': options.since }).ingested_after
      : undefined
  const own = { since: since ?? undefined, every: options.once ? undefined : every }
  try {
    await follow(context, options.place, query, own)
  } catch (error) {
    // The signal has interrupted a wait or a request. The stored place belongs to the page before
    // it.
    if (!signal.aborted) throw error
  }
}

async function follow(
  context: CommandContext,
  file: string,
  query: PollQuery,
  own: { since: string | Date | undefined; every: number | undefined },
): Promise<void> {
  const { options, say, signal } = context
  const written = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  const place = await readPlace(file, new URLSearchParams(written.sort()).toString())
  const out = typeof options.out === 'string' ? options.out : null
  const output = await openOutput(out, place)
  // A poller that runs on waits for the API. A single poll reports the failure.
  const retries = own.every === undefined ? 5 : Number.POSITIVE_INFINITY
  let articlesWritten = 0
  let { removals } = place
  let isNew = place.state === null
  try {
    await withApi(context, retries, async client => {
      for await (const { articles, state } of rounds(client, query, own, place.state, signal)) {
        if (isNew) {
          // The place is stored before the first page is written. If the process is killed during
          // this page, the next run knows where its output in the file began.
          const ingested_after =
            own.since instanceof Date ? own.since.toISOString() : (own.since ?? null)
          const start = { query: state.query, ingested_after, ids: [], etag: null }
          await keepPlace(file, { state: start, bytes: await output.write(''), removals })
          isNew = false
        }
        const bytes = await output.write(
          articles.map(article => `${JSON.stringify(article)}\n`).join(''),
        )
        await keepPlace(file, { state, bytes, removals })
        for await (const { text, last } of removalsAfter(client, removals, options.removals)) {
          removals = last
          await keepPlace(file, { state, bytes: await output.write(text), removals })
        }
        articlesWritten += articles.length
        if (out !== null && articles.length > 0 && own.every !== undefined) {
          say(`Wrote ${counted(articles.length, 'article')} to ${out}.`)
        }
      }
    })
    if (out !== null && own.every === undefined)
      say(`Wrote ${counted(articlesWritten, 'new article')} to ${out}.`)
  } finally {
    await output.close()
  }
}

/** Each round ends with an empty batch: articles may be taken out while no new ones come. */
async function* rounds(
  client: Client,
  query: PollQuery,
  { since, every }: { since: string | Date | undefined; every: number | undefined },
  state: PollState | null,
  signal: AbortSignal,
): AsyncGenerator<PollBatch> {
  for (let now = state; ; await pause(every, undefined, { signal })) {
    for await (const batch of client.poll(query, { since, state: now })) {
      now = batch.state
      yield batch
    }
    if (now !== null) yield { articles: [], state: now }
    if (every === undefined) return
  }
}

/** The lines of articles that were taken out after a removal, answer by answer, if wanted. */
async function* removalsAfter(client: Client, after = 0, isWanted: unknown = false) {
  for (let more = isWanted === true; more; ) {
    const answer = await client.removals(after)
    if (answer.last > after)
      yield {
        text: answer.data.map(removed => `${JSON.stringify({ removed })}\n`).join(''),
        last: answer.last,
      }
    after = answer.last
    more = answer.more
  }
}

/**
 * Runs work with a client of the API that the options name.
 *
 * @param retries how often a request is repeated when a later try may succeed
 * @throws UsageError when no key is given or found; an error with a sentence when the API does not
 * answer
 */
async function withApi<T>(
  context: CommandContext,
  retries: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { config, options, say, signal } = context
  const url =
    String(options.url ?? '') || config.PUBLIC_URL || `http://${config.HOST}:${config.PORT}`
  const key =
    String(options.key ?? '') ||
    config.API_KEY ||
    (await readIfThere(join(config.DATA_DIR, 'api.key')))?.trim()
  if (!key) throw new UsageError('Write --key, or set API_KEY; npm run keys -- create makes one.')
  const onWait = (ms: number, reason: unknown) =>
    say(`Waiting ${Math.ceil(ms / 1_000)} s: ${sentenceOf(reason)}`)
  try {
    return await work(createClient({ url, key, retries, signal, onWait }))
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    throw new Error(
      `${sentenceOf(error)} Name the API with --url, or leave \`npm start\` running on ${config.DATA_DIR}.`,
      { cause: error },
    )
  }
}

interface Output {
  /** Returns the number of bytes written so far, over all runs. */
  write(text: string): Promise<number>
  close(): Promise<void>
}

/**
 * Opens the output. A file is first cut to the place, because a killed run may have written more
 * articles, which come again.
 */
async function openOutput(path: string | null, place: PollPlace): Promise<Output> {
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
  // With a new place (`state` is null), the output file keeps its content, and new articles are
  // added at its end.
  if (place.state === null) bytes = size
  if (size < bytes)
    throw new Error(
      `${path} is shorter than its place says; begin with a new place and a new file.`,
    )
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

/** The place of `npm run poll` in its sequence of articles. */
interface PollPlace {
  /** Null before the first answer. */
  state: PollState | null
  /** Bytes that the output file had at this place. */
  bytes: number
  /** The number of the last removal that was written; absent: none was. */
  removals?: number | undefined
}

/**
 * Reads the place in a file; returns a new place when there is no file. The client package also
 * refuses the state of another search. But before it can do so, `npm run poll` cuts the output file
 * to this place, so the check must come here.
 */
async function readPlace(file: string, query: string): Promise<PollPlace> {
  const text = await readIfThere(file)
  if (text === null) return { state: null, bytes: 0 }
  const place: PollPlace = JSON.parse(text)
  const own = place.state?.query
  if (own !== query) {
    throw new Error(
      `${file} is the place of another question (${own ?? 'as an earlier version kept it'}); name another file for this one.`,
    )
  }
  return place
}

/** Stores the place. After a crash, the file holds either the old place or the new one. */
async function keepPlace(file: string, place: PollPlace): Promise<void> {
  await writeWhole(file, `${JSON.stringify(place)}\n`, 0o666)
}
