import { setTimeout as pause } from 'node:timers/promises'
import type { Language } from '../../shared/articles/article.ts'
import { foldName } from '../analysis/folding.ts'
import { stem } from '../analysis/stems.ts'
import { STOP_WORDS } from '../analysis/stop-words.ts'
import { createNameCache, type Names } from '../cache/names.ts'
import type { SegmentSource } from '../segment/builder.ts'
import type { Filled } from '../store/archive-store.ts'
import type { ArticleSource, ArticleWords } from '../store/article-source.ts'
import type { SegmentRange } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'
import { numberOf, recordOf } from './answers.ts'
import { type ArchiveClient, ArchiveFailure } from './client.ts'
import { type IndexShape, indexBody, LAST } from './mapping.ts'

/** Sends articles to indices. */
export interface Sender {
  /**
   * Sends the articles of a range; those that the index has already are replaced.
   *
   * @returns the times of the articles; null: it was interrupted
   */
  send(index: string, range: SegmentRange, signal: AbortSignal): Promise<Filled | null>
}

/** Articles that are read at a time. */
const PART = 512n
/** Characters of one request, unless an article alone is longer. */
const REQUEST = 4_000_000
/** Requests at a time: OpenSearch works on one while the next is made. */
const AT_ONCE = 2
/** Bytes of names that are kept. */
const NAMES = 16_000_000
/** ms for one request, with all tries. */
const WITHIN = 300_000
const EACH = 60_000
/** Tries of a request of which OpenSearch refused a part, with growing pauses: some minutes. */
const TRIES = 8

export function createSender({
  client,
  source,
  worked,
}: {
  client: ArchiveClient
  source: ArticleSource
  worked(articles: number): Promise<void>
}): Sender {
  const names = createNameCache(source, NAMES)
  const documentOf = createDocuments()

  /** Each article as the two lines of a bulk request. */
  async function* linesOf(range: SegmentRange, filled: Filled): AsyncGenerator<string> {
    const articles = await source.readSources(range)
    const words = new Map<bigint, ArticleWords>()
    for await (const one of source.readWords(range)) words.set(one.seq, one)
    const named = await names.read(
      articles.map(article => article.publisherNo),
      articles.flatMap(article => article.authorNos),
    )
    for (const article of articles) {
      const own = words.get(article.seq)
      if (own === undefined) throw new Error(`article ${article.seq} has no words; run "npm run reindex" first`)
      extend(filled, article)
      yield `{"index":{"_id":"${article.seq}"}}\n${JSON.stringify(documentOf(article, own, named))}\n`
    }
  }
  return {
    async send(index, range, signal) {
      const filled: Filled = { published: null, ingested: null, undated: 0 }
      const pipe = createPipe(body => sendBulk(client, index, body))
      try {
        for (const part of partsOf(range)) {
          if (signal.aborted) return null
          for await (const lines of linesOf(part, filled)) await pipe.add(lines)
          await worked(Number(part.last - part.first) + 1)
        }
      } finally {
        await pipe.end()
      }
      return filled
    },
  }
}

/** Gathers lines into requests, and sends a few at a time. */
function createPipe(send: (body: string) => Promise<void>) {
  let lines: string[] = []
  let length = 0
  const running = new Set<Promise<void>>()
  const flush = async () => {
    if (lines.length === 0) return
    const body = lines.join('')
    lines = []
    length = 0
    while (running.size >= AT_ONCE) await Promise.race(running)
    const sending = send(body)
    running.add(sending)
    // A failure is told by the race or by the end, which wait for it.
    const remove = () => void running.delete(sending)
    sending.then(remove, () => {})
  }
  return {
    async add(text: string) {
      if (length + text.length > REQUEST) await flush()
      lines.push(text)
      length += text.length
    },
    async end() {
      await flush()
      await Promise.all(running)
    },
  }
}

function* partsOf({ first, last }: SegmentRange): Generator<SegmentRange> {
  for (let from = first; from <= last; from += PART) {
    const to = from + PART - 1n
    yield { first: from, last: to < last ? to : last }
  }
}

function extend(filled: Filled, { published, ingested }: { published: number | null; ingested: number | null }): void {
  filled.published = including(filled.published, published)
  filled.ingested = including(filled.ingested, ingested)
  if (published === null) filled.undated++
}

function including(span: Filled['published'], time: number | null): Filled['published'] {
  if (time === null) return span
  if (span === null) return { first: time, last: time }
  return { first: Math.min(span.first, time), last: Math.max(span.last, time) }
}

/** @throws ArchiveFailure when OpenSearch refuses an article for good */
async function sendBulk(client: ArchiveClient, index: string, body: string): Promise<void> {
  const path = `/${writingAlias(index)}/_bulk?require_alias=true&filter_path=errors,items.*.status,items.*.error.reason`
  for (let attempt = 1; ; attempt++) {
    const answer = recordOf(await client.send({ method: 'POST', path, body, within: WITHIN, each: EACH }))
    if (answer.errors === false) return
    const { status, reason } = firstRefusal(answer.items)
    const isBusy = status === 429 || status === 503
    if (!isBusy || attempt === TRIES)
      throw new ArchiveFailure(`OpenSearch refused an article of ${index} (${status}: ${reason}).`, status)
    await pause(500 * 2 ** attempt)
  }
}

function firstRefusal(items: unknown): { status: number; reason: string } {
  for (const item of Array.isArray(items) ? items : []) {
    const { status, error } = recordOf(recordOf(item).index)
    if (typeof status === 'number' && status >= 300) return { status, reason: String(recordOf(error ?? {}).reason) }
  }
  return { status: 0, reason: 'no reason was given' }
}

/** Stems that are remembered for each language. */
const MOST_STEMS = 200_000

/**
 * Makes the documents of articles: the same terms as segments have, and the words of title and body
 * in their order, for phrases.
 */
function createDocuments(): (article: SegmentSource, words: ArticleWords, names: Names) => object {
  const stemmers = new Map<Language, (word: string) => string | null>()
  const stemmerOf = (language: Language) => {
    let stemmer = stemmers.get(language)
    if (stemmer === undefined) {
      stemmer = createStemmer(language)
      stemmers.set(language, stemmer)
    }
    return stemmer
  }
  return (article, words, names) => {
    const { seq, id, published, ingested, country, language, publisherNo, authorNos } = article
    const title = listed(words.title)
    const body = listed(words.body)
    const outlet = names.outlet(publisherNo)
    return {
      ...{ seq: Number(seq), id, country, publisher: publisherNo, author_nos: authorNos },
      ...(published === null ? { newest: -LAST, oldest: LAST } : { published, newest: published, oldest: published }),
      ...(ingested === null ? {} : { ingested }),
      terms: [...filterTermsOf(article), ...termsOf(language, title, body, stemmerOf(language))],
      title: textOf(title),
      body: textOf(body),
      outlets: [outlet.name, outlet.domain].flatMap(name => (name === null ? [] : [foldName(name)])),
      authors: authorNos.map(no => foldName(names.author(no).name)),
    }
  }
}

/** Outlets and authors are looked up by parts of their names, so their numbers need no terms. */
const filterTermsOf = ({ country, language, authorNos }: SegmentSource) => [
  TERMS.country(country),
  TERMS.language(language),
  TERMS.hasAuthor(authorNos.length > 0),
]

function termsOf(
  language: Language,
  title: string[],
  body: string[],
  stemOf: (word: string) => string | null,
): Set<string> {
  const terms = new Set<string>()
  for (const word of title) {
    terms.add(TERMS.word(word))
    const found = stemOf(word)
    if (found !== null) terms.add(TERMS.stem(language, found)).add(TERMS.titleStem(language, found))
  }
  for (const word of body) {
    const term = TERMS.word(word)
    if (terms.has(term)) continue
    terms.add(term)
    const found = stemOf(word)
    if (found !== null) terms.add(TERMS.stem(language, found))
  }
  return terms
}

/** The stem of a word; null: a stop word. */
function createStemmer(language: Language): (word: string) => string | null {
  const known = new Map<string, string | null>()
  return word => {
    const found = known.get(word)
    if (found !== undefined) return found
    const made = STOP_WORDS[language].has(word) ? null : stem(language, word)
    if (known.size >= MOST_STEMS) known.clear()
    known.set(word, made)
    return made
  }
}

const textOf = (words: string[]) => words.map(TERMS.word).join(' ')

/** The words of a list as `wordList` writes it. */
const listed = (list: string): string[] => (list.length < 2 ? [] : list.slice(1, -1).split('\n'))

/** ms for requests that change an index: others may keep the nodes busy. */
const WITHIN_INDICES = 120_000

/**
 * An index is written through an alias: OpenSearch then never makes a lost index anew by itself.
 */
const writingAlias = (index: string) => `${index}-w`

/** Makes an index, unless it is there. */
export async function createIndex(client: ArchiveClient, name: string, shape: IndexShape): Promise<void> {
  try {
    const body = JSON.stringify({ ...indexBody(shape), aliases: { [writingAlias(name)]: {} } })
    await client.send({ method: 'PUT', path: `/${name}`, body, within: WITHIN_INDICES })
  } catch (error) {
    const isThere = error instanceof ArchiveFailure && error.message.includes('resource_already_exists_exception')
    if (!isThere) throw error
  }
}

/** Deletes an index, if it is there. */
export async function deleteIndex(client: ArchiveClient, name: string): Promise<void> {
  try {
    await client.send({ method: 'DELETE', path: `/${name}`, within: WITHIN_INDICES })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

const isMissing = (error: unknown) => error instanceof ArchiveFailure && error.status === 404

/**
 * Makes everything that was sent to an index searchable, on every copy of its shards, and counts
 * it.
 *
 * @throws ArchiveFailure when a shard did not acknowledge it, or an article is missing
 */
export async function makeSearchable(client: ArchiveClient, name: string, range: SegmentRange): Promise<void> {
  const { _shards: shards } = recordOf(
    await client.send({ method: 'POST', path: `/${name}/_refresh`, within: WITHIN_INDICES }),
  )
  const { failed, successful } = recordOf(shards)
  if (failed !== 0 || numberOf(successful) < 1)
    throw new ArchiveFailure(`A shard of ${name} was not refreshed; the same command goes on.`, null)
  if (await hasAll(client, name, range)) return
  throw new ArchiveFailure(`${name} misses articles that were put into it; the same command builds it anew.`, null)
}

/** Whether an index has every article of a range. */
export async function hasAll(client: ArchiveClient, name: string, { first, last }: SegmentRange): Promise<boolean> {
  const query = { range: { seq: { gte: Number(first), lte: Number(last) } } }
  try {
    const path = `/${name}/_count`
    const answer = recordOf(
      await client.send({ method: 'POST', path, body: JSON.stringify({ query }), within: WITHIN_INDICES }),
    )
    if (recordOf(answer._shards).failed !== 0)
      throw new ArchiveFailure(`A shard of ${name} is away; run the same command when OpenSearch is whole.`, null)
    // Numbers have no gaps.
    return numberOf(answer.count) === Number(last - first) + 1
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
