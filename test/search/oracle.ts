import { stem, stopWordsOf } from '#search/analysis/index'
import type { ArticleQuery } from '#search/index'
import type { NewArticle } from '#search/types'
import type { Language } from '#shared/articles/article'

/*
 * What a search must answer, written down from the decisions and as slowly as they read: every
 * article is looked at, word by word. It shares the stemmer and the lists of stop words with what
 * it tests, and nothing else.
 */

/** An article as the oracle sees it; `id`, `seq` and `ingestedAt` as the index gave them. */
export interface Known extends NewArticle {
  id: string
  seq: bigint
  ingestedAt: Date | null
  /** Of its outlet, where that has moved. */
  domains?: string[]
}

export interface Question extends Omit<ArticleQuery, 'match'> {
  q: string | null
  search: 'keyword' | 'boolean' | 'expression'
  /** What an expression was written from. */
  tree?: Tree
}

/** An expression as whoever writes it means it. */
export type Tree =
  | Text
  | { kind: 'near'; sides: [Text[], Text[]]; most: number }
  /** At least one that is not excluded. */
  | { kind: 'and'; of: { tree: Tree; not: boolean }[] }
  | { kind: 'or'; of: Tree[] }
  | { kind: 'title'; of: Tree }

/** `forms`: one word. A `*` at the start or the end of another word stands for any letters. */
export interface Text {
  kind: 'loose' | 'quoted' | 'forms'
  text: string
}

export interface ResultSet {
  ids: string[]
}

/** The whole result set in its order, or null when `q` is refused. */
export function answer(articles: Known[], question: Question): ResultSet | null {
  const { search } = question
  const q = question.q === null ? null : withOneApostrophe(question.q)
  if (q !== null && !/[\p{L}\p{Nd}⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉]/u.test(q)) return null
  const closeness = q === null ? () => 0 : CLOSENESS[search](q, question)
  if (closeness === null) return null
  const { sort, order } = question
  const found = articles
    .filter(article => passes(article, question))
    .map(article => ({
      id: article.id,
      rank: closeness(article),
      value:
        (sort === 'published_at' ? article.publishedAt : article.ingestedAt)?.getTime() ?? null,
    }))
    .filter(({ rank, value }) => rank !== null && !(sort === 'ingested_at' && value === null))
  const direction = order === 'asc' ? 1 : -1
  found.sort((a, b) => {
    if (a.value !== b.value) {
      if (a.value === null) return 1
      if (b.value === null) return -1
      return (a.value - b.value) * direction
    }
    if (a.rank !== b.rank) return (b.rank ?? 0) - (a.rank ?? 0)
    return (a.id < b.id ? -1 : 1) * direction
  })
  return { ids: found.map(one => one.id) }
}

const CLOSENESS = { keyword, boolean, expression }

/** Decision 44. */
const withOneApostrophe = (text: string) =>
  [...text].map(one => ('‘’ʼ`´'.includes(one) ? "'" : one)).join('')

/** Decision 16. */
function tokens(text: string): string[] {
  const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉'
  const read = [...withOneApostrophe(text).normalize('NFC')]
    .filter(character => !/\p{Cf}/u.test(character))
    .map(character =>
      digits.includes(character) ? String(digits.indexOf(character) % 10) : character,
    )
    .map(character => (/[\p{L}\p{Nd}\p{M}]/u.test(character) ? character : ' '))
    .join('')
  return read
    .split(' ')
    .map(fold)
    .filter(word => word !== '')
}

function fold(word: string): string {
  const special: Record<string, string> = {
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    ł: 'l',
    đ: 'd',
    ð: 'd',
    þ: 'th',
    ı: 'i',
  }
  const bare = [...word.normalize('NFKD')].filter(character => !/\p{M}/u.test(character)).join('')
  return [...bare.toLowerCase()].map(character => special[character] ?? character).join('')
}

const known = new Map<Language, Map<string, string>>()
/** The stemmer forgets the many words of the longest texts. */
function stemOf(language: Language, word: string): string {
  const own = known.get(language) ?? new Map<string, string>()
  known.set(language, own)
  const found = own.get(word) ?? stem(language, word)
  own.set(word, found)
  return found
}

const cache = new WeakMap<Known, { title: string[]; body: string[] }>()
function textOf(article: Known): { title: string[]; body: string[] } {
  let text = cache.get(article)
  if (text === undefined) {
    text = { title: tokens(article.title), body: article.body === null ? [] : tokens(article.body) }
    cache.set(article, text)
  }
  return text
}

/**
 * Decision 17. More of the query's words is closer, then more of them in the title, then more of
 * them as written.
 */
function keyword(q: string, { searchIn }: Question): (article: Known) => number | null {
  const asked = [...new Set(tokens(q))]
  return article => {
    const { title, body } = textOf(article)
    const { language } = article
    const all = searchIn === 'title' ? title : [...title, ...body]
    const stops = stopWordsOf(language)
    const meaning = asked.filter(word => !stops.has(word))
    if (meaning.length === 0) {
      const here = asked.filter(word => all.includes(word))
      if (here.length === 0) return null
      return (
        here.length * 10_000 +
        (searchIn === 'title' ? 0 : asked.filter(word => title.includes(word)).length * 100)
      )
    }
    const stems = new Set(meaning.map(word => stemOf(language, word)))
    const stemsIn = (words: string[]) =>
      new Set(words.filter(word => !stops.has(word)).map(word => stemOf(language, word)))
    const found = [...stems].filter(one =>
      cachedStems(article, language, all, searchIn, stemsIn).has(one),
    ).length
    if (found === 0) return null
    const titled =
      searchIn === 'title' ? 0 : [...stems].filter(one => stemsIn(title).has(one)).length
    const written = meaning.filter(word => all.includes(word)).length
    return found * 10_000 + titled * 100 + written
  }
}

const stemCache = new WeakMap<Known, Map<string, Set<string>>>()
function cachedStems(
  article: Known,
  _: Language,
  words: string[],
  scope: string,
  make: (words: string[]) => Set<string>,
) {
  const own = stemCache.get(article) ?? new Map<string, Set<string>>()
  stemCache.set(article, own)
  const stems = own.get(scope) ?? make(words)
  own.set(scope, stems)
  return stems
}

/** Decision 18. Null: refused. */
function boolean(q: string, { searchIn }: Question): ((article: Known) => number | null) | null {
  const read = readBoolean(q)
  if (read === null || read.required.length === 0) return null
  return article => {
    const { title, body } = textOf(article)
    const holds = (phrase: string[]) =>
      contains(title, phrase) || (searchIn === 'title_body' && contains(body, phrase))
    return read.required.every(holds) && !read.excluded.some(holds) ? 0 : null
  }
}

/** Decision 45. */
function expression(_q: string, { tree, searchIn }: Question): (article: Known) => number | null {
  return article =>
    tree !== undefined && isTrue(tree, article, searchIn === 'title', false) ? 0 : null
}

/** @param tight loose words are a phrase */
function isTrue(tree: Tree, article: Known, inTitle: boolean, tight: boolean): boolean {
  const { title, body } = textOf(article)
  const parts = inTitle ? [title] : [title, body]
  switch (tree.kind) {
    case 'title':
      return isTrue(tree.of, article, true, tight)
    case 'or':
      return tree.of.some(one => isTrue(one, article, inTitle, false))
    case 'and':
      return tree.of.every(one => isTrue(one.tree, article, inTitle, one.not) !== one.not)
    case 'near': {
      const [left, right] = tree.sides
      return parts.some(words => {
        const [a, b] = [left, right].map(side =>
          side.flatMap(text => placesOf(text, words, article.language)),
        )
        return a!.some(one =>
          b!.some(
            two => isBetween(one.end, two.at, tree.most) || isBetween(two.end, one.at, tree.most),
          ),
        )
      })
    }
    case 'loose':
      if (!tight)
        return asked(tree.text).every(one =>
          parts.some(words => words.some(word => same(word, one))),
        )
  }
  return parts.some(words => placesOf(tree, words, article.language).length > 0)
}

const isBetween = (end: number, at: number, most: number) => at >= end && at - end <= most

function placesOf(
  { kind, text }: Text,
  words: string[],
  language: Language,
): { at: number; end: number }[] {
  const phrase = asked(text)
  const isStop = (word: string) => stopWordsOf(language).has(word)
  const isLike = (word: string | undefined, one: string) =>
    kind !== 'forms' || isStop(one) || word === undefined || isStop(word)
      ? same(word, one)
      : stemOf(language, word) === stemOf(language, one)
  return words.flatMap((_, at) =>
    phrase.every((one, n) => isLike(words[at + n], one)) ? [{ at, end: at + phrase.length }] : [],
  )
}

const read = new Map<string, string[]>()
/** The words of a text with their `*`, which stands beside plain letters alone. */
function asked(text: string): string[] {
  const found =
    read.get(text) ??
    text.split(/\s+/).flatMap(part => {
      const [, before, letters, after] = /^(\*?)([\p{L}\p{Nd}]+)(\*?)$/u.exec(part) ?? []
      const words = tokens(letters ?? part)
      return before || after ? words.map(word => `${before}${word}${after}`) : words
    })
  read.set(text, found)
  return found
}

function same(word: string | undefined, one: string): boolean {
  if (!one.includes('*')) return word === one
  if (word === undefined || word.length > 255) return false
  const letters = one.replaceAll('*', '')
  if (!word.includes(letters)) return false
  const places = Array.from(word, (_, at) => at).filter(at => word.startsWith(letters, at))
  return places.some(
    at =>
      (one.startsWith('*') || at === 0) &&
      (one.endsWith('*') || at + letters.length === word.length),
  )
}

function contains(words: string[], phrase: string[]): boolean {
  return words.some((_, at) => phrase.every((word, index) => words[at + index] === word))
}

const isLetter = (c: string | undefined) =>
  c !== undefined && /[\p{L}\p{Nd}⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉]/u.test(c)
const isWordPart = (c: string | undefined) => isLetter(c) || (c !== undefined && /\p{M}/u.test(c))

type Mode = 'words' | 'phrase' | 'not phrase' | 'not words'

/** Reads `q` character by character, in one of four modes. */
function readBoolean(q: string): { required: string[][]; excluded: string[][] } | null {
  const characters = [...q.normalize('NFC')].filter(character => !/\p{Cf}/u.test(character))
  const required: string[][] = []
  const excluded: string[][] = []
  let mode: Mode = 'words'
  let text = ''
  const close = () => {
    const list = tokens(text)
    text = ''
    if (list.length === 0) return
    if (mode === 'words') required.push(...list.map(word => [word]))
    else if (mode === 'phrase') required.push(list)
    else excluded.push(list)
  }
  for (let at = 0; at < characters.length; at++) {
    const next = modeAfter(mode, characters, at)
    if (next === null) {
      text += characters[at]!
      continue
    }
    close()
    mode = next
    // `-"` is two characters.
    if (mode === 'not phrase') at++
  }
  if (mode === 'phrase' || mode === 'not phrase') return null
  close()
  return { required, excluded }
}

/** The mode that begins with a character; null: the character belongs to the text. */
function modeAfter(mode: Mode, characters: string[], at: number): Mode | null {
  const c = characters[at]!
  if (mode === 'phrase' || mode === 'not phrase') return c === '"' ? 'words' : null
  if (c === '"') return 'phrase'
  if (mode === 'not words') return /\s/.test(c) ? 'words' : null
  const previous = characters[at - 1]
  const following = characters[at + 1]
  const startsWord = previous === undefined || (previous !== '-' && !isWordPart(previous))
  if (c !== '-' || !startsWord) return null
  if (following === '"') return 'not phrase'
  return isLetter(following) ? 'not words' : null
}

/** Filters, reach and dates: decisions 12–15. */
function passes(article: Known, question: Question): boolean {
  const { outlet, outlets, author, countries, languages, hasAuthor, ingestedAfter } = question
  const { section, kinds, access } = question
  const said = article.stated ?? { section: null, kind: null, access: null }
  return (
    countries.includes(article.country) &&
    (languages === null || languages.includes(article.language)) &&
    (hasAuthor === null || hasAuthor === article.authors.length > 0) &&
    (outlet === null ||
      isPartOf(article.outlet.name, outlet) ||
      isPartOf(article.outlet.domain, outlet)) &&
    (outlets === null ||
      [article.outlet.domain?.toLowerCase() ?? '', ...(article.domains ?? [])].some(domain =>
        outlets.includes(domain),
      )) &&
    (author === null || article.authors.some(name => isPartOf(name, author))) &&
    (section === null || (said.section !== null && foldName(said.section) === foldName(section))) &&
    (kinds === null || kinds.some(one => one === said.kind)) &&
    (access === null || access === said.access) &&
    (ingestedAfter === null ||
      (article.ingestedAt !== null && article.ingestedAt >= ingestedAfter)) &&
    isFresh(article, question) &&
    isCovered(article, question)
  )
}

const foldName = (name: string) => fold(withOneApostrophe(name.normalize('NFC')))
const isPartOf = (name: string | null, part: string) =>
  name !== null && foldName(name).includes(foldName(part))

const isFresh = ({ publishedAt, ingestedAt }: Known, { publishedWithin = null }: Question) =>
  publishedWithin === null ||
  publishedAt === null ||
  ingestedAt === null ||
  ingestedAt.getTime() - publishedAt.getTime() <= publishedWithin

function isCovered({ publishedAt, ingestedAt }: Known, { reach }: Question): boolean {
  const { historyStart, publishedAfter, publishedBefore } = reach
  if (publishedAt === null) {
    if (publishedAfter !== null || publishedBefore !== null) return false
    return ingestedAt !== null && ingestedAt >= historyStart
  }
  if (publishedAt < historyStart) return false
  if (publishedAfter !== null && publishedAt < publishedAfter) return false
  return publishedBefore === null || publishedAt <= publishedBefore
}
