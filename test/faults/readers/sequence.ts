import { setTimeout as sleep } from 'node:timers/promises'
import type { Findings } from '#test/faults/findings'
import type { Random } from '#test/faults/random'
import { TOPICS } from '#test/faults/site/site-article'
import type { Client, Page } from './client.ts'

/** The search of a sequence of pages, and the articles that truly belong to it. */
export interface Question {
  query: Record<string, string>
  /** Null where only the system knows (semantic search). */
  matches: ((article: { title: string; country: string; language: string }) => boolean) | null
}

/** A sequence that was read to its end, kept for the verdict. */
export interface Sequence {
  name: string
  question: Question
  total: number
  ids: string[]
}

const holds = (title: string, word: string) => title.toLowerCase().includes(word.toLowerCase())

function drawQuestion(random: Random): Question {
  const [one, other] = random.shuffled(TOPICS)
  if (!one || !other) throw new Error('There are too few topics.')
  const order = random.pick(['asc', 'desc'] as const)
  const sort = random.pick(['published_at', 'ingested_at'] as const)
  const country = random.pick(['NL', 'BE', 'LU'] as const)
  const base = { sort, order, per_page: String(Math.floor(random.between(5, 100))) }
  return random.pick<() => Question>([
    () => ({ query: base, matches: () => true }),
    () => ({ query: { ...base, country }, matches: article => article.country === country }),
    () => ({
      query: { ...base, q: `${one} ${other}` },
      matches: ({ title }) => holds(title, one) || holds(title, other),
    }),
    () => ({
      query: { ...base, search: 'boolean', q: `${one} -${other}` },
      matches: ({ title }) => holds(title, one) && !holds(title, other),
    }),
    () => ({
      query: { search: 'semantic', q: 'spoorwegen en vakbonden', per_page: '40' },
      matches: null,
    }),
  ])()
}

/** About what a sequence takes. */
const SEQUENCE_MS = 60_000
/** How long a reader tries one page while faults last, before it says so and gives up. */
const PATIENCE_MS = 90_000

/**
 * Pages slowly through one question while articles are being indexed and processes die. What a
 * single sequence can tell of itself is a finding at once; the rest is for the verdict.
 *
 * @returns null when it did not come to its end
 */
export async function readSequence(
  name: string,
  client: Client,
  apis: number,
  random: Random,
  findings: Findings,
): Promise<Sequence | null> {
  const question = drawQuestion(random)
  const query = new URLSearchParams(question.query)
  const ids: string[] = []
  let total: number | null = null
  for (;;) {
    const page = await insist(() => client.page(Math.floor(random.next() * apis), query))
    if (!page) {
      findings.add(`${name} (${query}) was not given its next page for ${PATIENCE_MS / 1000} s.`)
      return null
    }
    total ??= page.total_results
    if (page.total_results !== total)
      findings.add(
        `${name} (${query}) began with ${total} results and later said ${page.total_results}.`,
      )
    ids.push(...page.articles.map(({ id }) => id))
    if (page.next_cursor === null) return { name, question, total, ids }
    query.set('cursor', page.next_cursor)
    // Slowly, and yet within some minutes.
    await sleep(
      random.between(0.1, 1) * Math.min(2_500, SEQUENCE_MS / (total / page.articles.length)),
    )
  }
}

async function insist(ask: () => Promise<Page | null>): Promise<Page | null> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const page = await ask()
    if (page || Date.now() > end) return page
    await sleep(500)
  }
}
