import { NO_FILTERS, type SearchSizes } from '#search/index'
import { ACCESSES, COUNTRIES, KINDS, LANGUAGES } from '#shared/articles/article'
import type { Random } from '#test/faults/random'
import type { Known, Question, Text, Tree } from './oracle.ts'

/**
 * A question about an index, its words and its bounds mostly taken from it, so that it finds
 * something.
 */
export function randomQuestion(random: Random, articles: Known[]): Question {
  const search = random.pick(['keyword', 'boolean', 'expression'] as const)
  const sort = random.chance(0.6) ? 'published_at' : 'ingested_at'
  const time = () => random.pick(articles).publishedAt ?? new Date('2020-02-29T00:00:00Z')
  const historyStart = random.chance(0.7) ? new Date('1990-01-01T00:00:00Z') : time()
  const publishedAfter = random.chance(0.2)
    ? new Date(Math.max(time().getTime(), historyStart.getTime()))
    : null
  const before = new Date(time().getTime() - random.below(2))
  // Filters hide what the words are to show.
  const plain = random.chance(0.5) ? { ...NO_FILTERS, reach: EVERYTHING } : {}
  return {
    ...randomWords(random, search, articles),
    searchIn: random.chance(0.5) ? 'title' : 'title_body',
    countries: random.chance(0.6) ? [...COUNTRIES] : random.some(COUNTRIES),
    languages: random.chance(0.7) ? null : random.some(LANGUAGES),
    hasAuthor: random.chance(0.7) ? null : random.chance(0.5),
    outlet: random.chance(0.85) ? null : random.pick(OUTLET_PARTS),
    outlets: domains(random, articles),
    author: random.chance(0.85) ? null : random.pick(AUTHOR_PARTS),
    section: random.chance(0.85) ? null : random.pick(['politiek', 'ÉCONOMIE', 'Poli', 'Sport']),
    kinds: random.chance(0.85) ? null : random.some(KINDS),
    access: random.chance(0.85) ? null : random.pick(ACCESSES),
    reach: {
      historyStart,
      publishedAfter,
      publishedBefore:
        random.chance(0.2) && before >= (publishedAfter ?? historyStart) ? before : null,
    },
    ingestedAfter: random.chance(0.2) ? (random.pick(articles).ingestedAt ?? time()) : null,
    sort,
    order: random.chance(0.5) ? 'asc' : 'desc',
    perPage: random.pick([1, 2, 3, 7, 25, 100]),
    ...plain,
  }
}

/**
 * The same words and filters again, with other times, in another order: a search remembers what it
 * found.
 */
export function askedAgain(random: Random, former: Question, articles: Known[]): Question {
  const { reach, ingestedAfter, sort, order, perPage } = randomQuestion(random, articles)
  return {
    ...former,
    ...(random.chance(0.7) ? { reach, ingestedAfter } : {}),
    sort,
    order,
    perPage,
  }
}

/** Small sizes make many stretches, and totals at their cap. */
export const randomSizes = (random: Random): SearchSizes => ({
  cap: random.pick([5, 50, 10_000]),
  memory: { segment: random.pick([1n, 8n, 64n, 4_096n]), words: random.pick([0, 500, 400_000]) },
  first: random.pick([1, 40, 32_768]),
  prefetch: random.pick([0, 100, 65_536]),
})

export function randomWords(
  random: Random,
  search: Question['search'],
  articles: Known[],
): Pick<Question, 'q' | 'search' | 'tree'> {
  if (random.chance(0.1)) return { search, q: null }
  if (search !== 'expression')
    return { search, q: (search === 'keyword' ? words : grammar)(random, articles) }
  // Words of one article stand together there.
  const tree = randomTree(random, random.chance(0.7) ? [random.pick(articles)] : articles, 2)
  const q = written(random, tree)
  return q.split(/[^\p{L}\p{Nd}\p{M}]+/u).length > 60
    ? randomWords(random, search, articles)
    : { search, tree, q }
}

function randomTree(random: Random, articles: Known[], depth: number): Tree {
  const form = depth === 0 ? 0 : random.below(10)
  const sub = () => randomTree(random, articles, depth - 1)
  const texts = () =>
    Array.from({ length: random.pick([1, 1, 2, 3]) }, () => randomText(random, articles))
  if (form < 2) return randomText(random, articles)
  if (form < 4)
    return { kind: 'near', sides: [texts(), texts()], most: random.pick([1, 2, 5, 20, 50]) }
  if (form < 5) return { kind: 'title', of: sub() }
  if (form < 7) return { kind: 'or', of: Array.from({ length: 2 + random.below(2) }, sub) }
  const not = (_: unknown, at: number) => ({ tree: sub(), not: at > 0 && random.chance(0.4) })
  return { kind: 'and', of: random.shuffled(Array.from({ length: 2 + random.below(2) }, not)) }
}

function randomText(random: Random, articles: Known[]): Text {
  const kind = random.pick(['loose', 'loose', 'quoted', 'forms'] as const)
  const text = excerpt(random, articles, kind === 'quoted' ? 1 + random.below(4) : 1).slice(0, 60)
  if (kind === 'quoted') {
    const plain = text.replace(/["*?“”„‟«»]/g, ' ').replace(/^[^\p{L}\p{Nd}]*$/u, 'de')
    const parts = plain
      .split(/(?<=\s)/)
      .map(part => (random.chance(0.2) ? cut(random, part) : part))
    return { kind, text: parts.join('') }
  }
  const bare = text
    .toLowerCase()
    .replace(kind === 'forms' ? /[^a-z].*/s : /[^\p{L}\p{Nd}\p{M}'’-]|^[-'’\p{M}]+/gu, '')
  const word = /[\p{L}\p{Nd}]/u.test(bare) ? bare : 'de'
  return { kind, text: kind === 'loose' && random.chance(0.4) ? cut(random, word) : word }
}

/** A part of a word, with `*` where letters may follow; the text itself if it is no plain word. */
function cut(random: Random, text: string): string {
  const [, word = '', rest = ''] =
    /^([a-zäöüéèêëïôç0-9]{3,})(\s*)$/i.exec(text.normalize('NFC')) ?? []
  if (word === '') return text
  const from = random.below(word.length - 2)
  const to = from + 3 + random.below(word.length - from - 2)
  const form = random.below(3)
  if (form === 0) return `${word.slice(0, to)}*${rest}`
  return form === 1 ? `*${word.slice(from)}${rest}` : `*${word.slice(from, to)}*${rest}`
}

/** A tree as somebody may write it. `tight`: within what binds more than AND. */
function written(random: Random, tree: Tree, within: 'or' | 'and' | 'tight' = 'or'): string {
  const grouped = (text: string, needed: boolean) =>
    needed || random.chance(0.1) ? `(${text})` : text
  switch (tree.kind) {
    case 'loose':
      return cased(random, tree.text).replace(/^(AND|OR|NOT)$/, word => word.toLowerCase())
    case 'forms':
      return `~${tree.text}`
    case 'quoted': {
      const [open, close] = random.pick(['""', '“”', '„“', '«»', '»«'])
      return `${open}${tree.text}${close}`
    }
    case 'near': {
      const [left, right] = tree.sides.map(side =>
        grouped(side.map(text => written(random, text, 'tight')).join(' OR '), side.length > 1),
      )
      return grouped(`${left} NEAR/${tree.most} ${right}`, within === 'tight')
    }
    case 'title':
      return `title:${grouped(written(random, tree.of, 'tight'), false)}`
    case 'or':
      return grouped(tree.of.map(one => written(random, one, 'or')).join(' OR '), within !== 'or')
    case 'and': {
      const parts = tree.of.map(one => {
        const text = written(random, one.tree, one.not ? 'tight' : 'and')
        return one.not ? `${random.pick(['-', 'NOT '])}${text}` : text
      })
      return grouped(parts.join(random.pick([' ', ' AND '])), within === 'tight')
    }
  }
}

function domains(random: Random, articles: Known[]): string[] | null {
  if (random.chance(0.85)) return null
  return random.some([
    ...new Set(articles.map(({ outlet }) => (outlet.domain ?? 'none.nl').toLowerCase())),
    'no.nl',
  ])
}

/** Single letters, particles, parts that span words, and parts that fold to nothing. */
const OUTLET_PARTS = [
  'koer',
  'LETZ',
  'example',
  '%',
  '_',
  'e',
  'nobody',
  'ÉCHO',
  'lu.',
  'De D',
  't.l',
  '\u0301',
  '.',
]
const AUTHOR_PARTS = [
  'jan',
  'ZOE',
  'muller',
  '_',
  'a%b',
  'o’n',
  'nobody',
  'n',
  'A',
  'é',
  'an',
  'VAN',
  'van de',
  'n v',
  'e V',
  'O´N',
  "'neill",
  'jan de Vries',
  'n de vri',
  'van den bergh',
  'Müller',
  'b van',
  '. o',
  '\u0301',
  'ß',
  'nn',
]

const EVERYTHING = {
  historyStart: new Date('1800-01-01T00:00:00Z'),
  publishedAfter: null,
  publishedBefore: null,
}

function excerpt(random: Random, articles: Known[], length: number): string {
  const article = random.pick(articles)
  const text = random.chance(0.4) || article.body === null ? article.title : article.body
  const parts = text.slice(-20_000).split(/(?<=\s)/)
  const at = random.below(parts.length)
  return parts
    .slice(at, at + length)
    .join('')
    .trim()
    .slice(0, 180)
}

function words(random: Random, articles: Known[]): string {
  if (random.chance(0.1)) return excerpt(random, articles, 60).slice(0, 191)
  const parts = Array.from({ length: 1 + random.below(3) }, () => excerpt(random, articles, 1))
  return cased(random, parts.join(random.pick([' ', ' ', '-', ', ', ' "']))).slice(0, 191)
}

function grammar(random: Random, articles: Known[]): string {
  if (random.chance(0.15)) return longGrammar(random, articles)
  // What one article holds, asked for and excluded, tells more than what hardly any article could
  // hold together.
  const sources = random.chance(0.6) ? [random.pick(articles)] : articles
  let q = ''
  for (let part = random.below(3); part >= 0; part--) {
    const text = excerpt(random, sources, 1 + random.below(5)).replaceAll('"', ' ')
    const form = random.below(10)
    if (form < 4) q += text
    else if (form < 7) q += `"${text}"`
    else if (form < 8) q += `-${text}`
    else if (form < 9) q += `-"${text}"`
    else q += random.pick(['"', '- ', '--', '(-', '""', '-""', '½', '-½', '“'])
    q += random.pick([' ', ' ', ' ', '', '-', '\u00a0'])
  }
  return cased(random, q).slice(0, 191)
}

/** As many words as `q` holds: required, in one phrase, or excluded. */
function longGrammar(random: Random, articles: Known[]): string {
  const text = excerpt(random, articles, 60).replaceAll('"', ' ')
  const excluded = () =>
    excerpt(random, articles, 60).replaceAll(/["-]/g, ' ').split(/\s+/).join(' -')
  return random
    .pick([() => text, () => `"${text}"`, () => `${excerpt(random, articles, 1)} -${excluded()}`])()
    .slice(0, 190)
    .replace(/^("[^"]*)$/, '$1"')
}

function cased(random: Random, text: string): string {
  const form = random.below(6)
  if (form === 0) return text.toUpperCase()
  if (form === 1) return text.normalize('NFD')
  if (form === 2) return text.toLowerCase()
  return text
}
