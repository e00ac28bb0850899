import { COUNTRIES, type Country } from '../../shared/articles/article.ts'
import { foldName } from '../analysis/folding.ts'
import type { createNameCounter, NameUse } from '../execute/collectors/name-counts.ts'
import { createPace } from '../pace.ts'
import type { ArticleSource, FoldedName } from '../store/article-source.ts'
import type { NameField } from '../terms.ts'
import { createNameList, type ListedName, type NameList } from './name-list.ts'

/** Outlets and authors whose names contain a text, the most useful first. */
export interface Suggestions {
  /**
   * Numbers of outlets or authors.
   *
   * @param text as the client wrote it
   * @param countries only names with articles in one of them
   */
  find(field: NameField, text: string, countries: readonly Country[], limit: number): Promise<number[]>
  /** Reads the names. They are read again later, when somebody asks. */
  ready(): Promise<void>
  /** Resolves when nothing is read any more. */
  close(): Promise<void>
}

type NameCounter = ReturnType<typeof createNameCounter>
type NameLists = Record<NameField, NameList>

/** Names are read again, when somebody asks, after so many times as long as reading them took. */
const FRESH = 100
/** ms after which they are read again at the earliest. */
const LEAST_FRESH = 1_000
/**
 * So few names are read in a moment, however long a busy machine takes: a client waits for them. A
 * new archive would else suggest for a while that it has none.
 */
const FEW = 10_000
const NAMES_PER_READ = 2_000

/** @param count counts the names of all articles */
export function createSuggestions(source: ArticleSource, count: () => Promise<NameCounter>): Suggestions {
  let lists: NameLists | null = null
  let until = 0
  let reading: Promise<NameLists> | null = null
  let closed = false

  async function read(): Promise<NameLists> {
    const start = performance.now()
    const counter = await count()
    const isClosed = () => closed
    const outlet = await readList(source.readOutletNames, no => counter.outlet(no), isClosed)
    const author = await readList(source.readAuthorNames, no => counter.author(no), isClosed)
    lists = { outlet, author }
    const took = performance.now() - start
    until = performance.now() + (areFew(lists) ? LEAST_FRESH : Math.max(LEAST_FRESH, took * FRESH))
    return lists
  }
  function refresh(): Promise<NameLists> {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }
  /** Old names serve until the new ones are read, also when these cannot be read. */
  async function current(): Promise<NameLists> {
    if (lists === null) return refresh()
    if (performance.now() < until || closed) return lists
    const old = lists
    const refreshed = refresh().catch(() => old)
    return areFew(old) ? refreshed : old
  }
  return {
    async find(field, text, countries, limit) {
      const { [field]: list } = await current()
      const wanted = COUNTRIES.reduce((bits, one, index) => bits | (countries.includes(one) ? 1 << index : 0), 0)
      return list.find(foldName(text), wanted, limit)
    },
    async ready() {
      if (lists === null) await refresh()
    },
    async close() {
      closed = true
      await reading?.catch(() => {})
    },
  }
}

const areFew = ({ outlet, author }: NameLists) => outlet.size + author.size < FEW

/**
 * Reads all names that have articles. Equal names of several authors are one where they have the
 * same countries: a name is never told by an author or outlet of another country.
 */
async function readList(
  readNames: (after: number, limit: number) => Promise<FoldedName[]>,
  useOf: (no: number) => NameUse,
  isClosed: () => boolean,
): Promise<NameList> {
  const slices = createPace()
  const pace = async () => {
    if (slices.isDue()) await slices.rest()
  }
  const names = new Map<string, ListedName & { most: number }>()
  for (let after = -1; !isClosed(); ) {
    const read = await readNames(after, NAMES_PER_READ)
    for (const { no, texts } of read) {
      const use = useOf(no)
      if (use.articles > 0) for (const text of texts) addName(names, text, no, use)
    }
    await pace()
    const last = read.at(-1)
    if (last === undefined || read.length < NAMES_PER_READ) break
    after = last.no
  }
  return createNameList([...names.values()], pace)
}

function addName(
  names: Map<string, ListedName & { most: number }>,
  text: string,
  no: number,
  { articles, countries }: NameUse,
): void {
  const same = `${countries} ${text}`
  const known = names.get(same)
  if (known === undefined) {
    names.set(same, { no, text, articles, countries, most: articles })
    return
  }
  known.articles += articles
  // The number that has the most articles stands for the name, because it tells the usual spelling.
  if (articles > known.most) Object.assign(known, { no, most: articles })
}
