import { COUNTRIES, type Country } from '../../shared/articles/article.ts'
import { foldName } from '../analysis/folding.ts'
import type { NameCounter, NameUses } from '../execute/collectors/name-counts.ts'
import type { NameIndex } from '../names/name-index.ts'
import { createPace } from '../pace.ts'
import type { NameField } from '../terms.ts'
import { type Ranking, rankNames } from './ranking.ts'

/** Outlets and authors whose names contain a text, the most useful first. */
export interface Suggestions {
  /**
   * Numbers of outlets or authors.
   *
   * @param text as the client wrote it
   * @param countries only names with articles in one of them
   */
  find(field: NameField, text: string, countries: readonly Country[], limit: number): Promise<number[]>
  /** Ranks the names. They are ranked again later, when somebody asks. */
  ready(): Promise<void>
  /** Resolves when nothing is ranked any more. */
  close(): Promise<void>
}

type Rankings = Record<NameField, Ranking>

/** Names are ranked again, when somebody asks, after so many times as long as that took. */
const FRESH = 100
/** ms after which they are ranked again at the earliest. */
const LEAST_FRESH = 1_000
/**
 * So few names are ranked in a moment, however long a busy machine takes: a client waits for them.
 * A new archive would else suggest for a while that it has none.
 */
const FEW = 10_000
const NAMES_PER_READ = 2_000

/**
 * @param names those in memory, in which searches look up parts of names
 * @param count counts the names of all articles
 */
export function createSuggestions(names: Record<NameField, NameIndex>, count: () => Promise<NameCounter>): Suggestions {
  let rankings: Rankings | null = null
  let until = 0
  let ranking: Promise<Rankings> | null = null
  let closed = false

  async function rank(): Promise<Rankings> {
    const start = performance.now()
    const counter = await count()
    const isClosed = () => closed
    const outlet = await rankCounted(names.outlet, counter.outlet, isClosed)
    const author = await rankCounted(names.author, counter.author, isClosed)
    rankings = { outlet, author }
    const took = performance.now() - start
    until = performance.now() + (areFew(rankings) ? LEAST_FRESH : Math.max(LEAST_FRESH, took * FRESH))
    return rankings
  }
  function refresh(): Promise<Rankings> {
    ranking ??= rank().finally(() => {
      ranking = null
    })
    return ranking
  }
  /** The old ranking serves until the new one is made, also when that cannot be made. */
  async function current(): Promise<Rankings> {
    if (rankings === null) return refresh()
    if (performance.now() < until || closed) return rankings
    const old = rankings
    const refreshed = refresh().catch(() => old)
    return areFew(old) ? refreshed : old
  }
  return {
    async find(field, text, countries, limit) {
      const { [field]: ranked } = await current()
      const wanted = COUNTRIES.reduce((bits, one, index) => bits | (countries.includes(one) ? 1 << index : 0), 0)
      return ranked.find(foldName(text), wanted, limit)
    },
    async ready() {
      if (rankings === null) await refresh()
    },
    async close() {
      closed = true
      await ranking?.catch(() => {})
    },
  }
}

const areFew = ({ outlet, author }: Rankings) => outlet.size + author.size < FEW

/** Ranks the names that have articles. Those that are not in memory yet are read. */
async function rankCounted(names: NameIndex, uses: NameUses, isClosed: () => boolean): Promise<Ranking> {
  const slices = createPace()
  const pace = async () => {
    if (slices.isDue()) await slices.rest()
  }
  await names.readAll()
  const missing: number[] = []
  for (let no = 0; no < uses.end(); no++) if (!names.has(no) && uses.of(no).articles > 0) missing.push(no)
  for (let from = 0; from < missing.length && !isClosed(); from += NAMES_PER_READ) {
    await names.read(missing.slice(from, from + NAMES_PER_READ))
  }
  return rankNames(names, uses.of, pace)
}
