import { createHash } from 'node:crypto'
import { type Figures, rounded, say, sum } from '#bench/figures'
import { readSet } from '#bench/json-lines'
import type { BenchOptions } from '#bench/main'
import { withServers } from '#bench/servers'
import type { Language } from '#shared/articles/article'
import { readConfig } from '#shared/config/config'
import { openEmbeddings, sourceOf } from '#shared/embeddings/embeddings'
import type { SameEvent } from '#shared/embeddings/models'
import { articleVector, passagesOf } from '#shared/embeddings/recipe'
import { AROUND, thresholdOf } from '#shared/vectors/related'
import { readCorpora } from './corpora.ts'
import crowd from './near-topics.json' with { type: 'json' }

const TIMEOUT = 120_000
const DAY = 86_400_000
/** Thresholds that are tried on both halves of the pairs. */
const TRIED = [0.5, 0.52, 0.54, 0.56, 0.58, 0.6, 0.62]
/**
 * About as many articles were numbered in a day. The number of an article is its id in `pair_id`,
 * and grows with time. (Of articles whose text states a date, the middle one is 2 days off.)
 */
const NUMBERS_A_DAY = 900_000

interface Row {
  pair_id: string
  lang1: Language
  lang2: Language
  text1: string
  text2: string
  Overall: number
}

/** A pair of articles that people have judged. */
interface Judged {
  languages: [Language, Language]
  closeness: number
  isSame: boolean
  /** Their numbers are so close that they can be related articles: see `AROUND`. */
  isNear: boolean
  /** In which half of the pairs this pair is. */
  half: boolean
}

type Embed = (article: { title: string; body: string | null }) => Promise<number[]>

/**
 * Measures how close articles on the same event are, with the embedded model. The thresholds are
 * `SameEvent` of `shared/embeddings/models.ts`.
 * - On pairs that people judged (SemEval-2022, task 8): all, and those of which `/explore/related`
 *   can show one for the other, as few days lie between them. Other thresholds are tried on halves.
 * - On NTREX-128, among many articles on near topics.
 */
export async function measureRelated({ data, signal }: BenchOptions): Promise<Figures> {
  const rows = await readSet<Row>(data, 'pairs-semeval22/pairs.ndjson.gz')
  if (rows.length === 0) return {}
  return withServers(
    'semantic',
    'bench-related',
    signal,
    ({ servers }) => measure(rows, data, servers.settings, signal),
    ['model'],
  )
}

async function measure(
  rows: Row[],
  data: string,
  settings: object,
  signal: AbortSignal,
): Promise<Figures> {
  const embeddings = openEmbeddings(sourceOf(readConfig({ ...settings })), {
    passageTimeout: TIMEOUT,
  })
  const embed: Embed = async article => {
    const passages = passagesOf(article)
    const texts = passages.map(({ text }) => text)
    return articleVector(
      passages,
      await embeddings.embedPassages(
        texts,
        AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]),
      ),
    )
  }
  const judged = await judge(rows, embed)
  const { same } = embeddings.model
  const isWithin = ({ languages: [a, b] }: Judged) => a === b
  const within = judged.filter(isWithin)
  const across = judged.filter(pair => !isWithin(pair))
  for (const [name, pairs] of Object.entries({ within, across }))
    for (const near of [false, true])
      for (const least of TRIED) {
        const shown = (half: boolean) =>
          countsOf(
            pairs.filter(pair => pair.half === half && (pair.isNear || !near)),
            () => least,
          )
        const halves = [true, false].map(shown).map(one => `${one.right}/${one.shown}/${one.same}`)
        say([name, near ? 'near' : 'all', least, ...halves].join('\t'))
      }
  const groups = Map.groupBy(judged, ({ languages }) => languages.join('-'))
  const figures: Figures = {}
  say('pairs: on the same event, shown, right of these (95 %), found of the first (95 %)')
  for (const [group, all] of [
    ...groups,
    ['within', within] as const,
    ['across', across] as const,
    ['all', judged] as const,
  ])
    for (const [name, pairs] of [
      [group, all],
      [`${group}_near`, all.filter(({ isNear }) => isNear)],
    ] as const) {
      const counts = countsOf(pairs, ([a, b]) => thresholdOf(same, a, b) ?? 1)
      const { same: truly, shown, right } = counts
      say([name, truly, shown, inWords(right, shown), inWords(right, truly)].join('\t'))
      figures[`right_${name}`] = rounded(right / shown || 0, 3)
      figures[`found_${name}`] = rounded(right / truly || 0, 3)
    }
  return { ...figures, ...(await measureCrowd(data, embed, same)) }
}

/** How many pairs are on the same event, how many are shown, and how many are both. */
function countsOf(pairs: Judged[], leastFor: (languages: Judged['languages']) => number) {
  const shown = pairs.filter(({ languages, closeness }) => closeness >= leastFor(languages))
  const sameOf = (some: Judged[]) => some.filter(({ isSame }) => isSame).length
  return { same: sameOf(pairs), shown: shown.length, right: sameOf(shown) }
}

async function judge(rows: Row[], embed: Embed): Promise<Judged[]> {
  const vectors = new Map<string, number[]>()
  for (const text of new Set(rows.flatMap(({ text1, text2 }) => [text1, text2])))
    vectors.set(text, await embed(splitText(text)))
  const halfOf = halves(rows)
  return rows.map(({ pair_id, lang1, lang2, text1, text2, Overall }) => ({
    languages: lang1 < lang2 ? [lang1, lang2] : [lang2, lang1],
    closeness: product(vectors.get(text1)!, vectors.get(text2)!),
    isSame: Overall <= 2,
    isNear: daysBetween(pair_id) * DAY <= AROUND,
    half: halfOf(pair_id),
  }))
}

/**
 * Splits a text into headline and body. The headline ends at the end of its line, or at two spaces.
 * Otherwise it has about 110 characters.
 */
function splitText(text: string): { title: string; body: string } {
  const whole = text.trim()
  const title =
    /^[^\n]{10,200}?(?=\n| {2})/u.exec(whole)?.[0] ?? whole.slice(0, whole.lastIndexOf(' ', 110))
  return { title: title.trim(), body: whole.slice(title.length).trim() }
}

/**
 * Puts each pair into a half. Pairs that share an article, directly or through other pairs, are in
 * the same half.
 */
function halves(rows: Row[]): (pair: string) => boolean {
  const parents = new Map<string, string>()
  const rootOf = (article: string): string => {
    const parent = parents.get(article) ?? article
    return parent === article ? article : rootOf(parent)
  }
  for (const { pair_id } of rows) {
    const [a = '', b = ''] = pair_id.split('_').map(rootOf)
    if (a !== b) parents.set(a > b ? a : b, a > b ? b : a)
  }
  return pair =>
    createHash('sha256')
      .update(rootOf(pair.split('_')[0]!))
      .digest()[0]! %
      2 ===
    0
}

const product = (a: number[], b: number[]) => sum(a.map((number, at) => number * b[at]!))

/** About how many days lie between the articles of a pair. */
function daysBetween(pair: string): number {
  const [a = 0, b = 0] = pair.split('_').map(id => Number.parseInt(id, 10))
  return Math.abs(a - b) / NUMBERS_A_DAY
}

/** A share, with its 95 % interval (Wilson 1927). */
function inWords(part: number, whole: number): string {
  if (whole === 0) return '–'
  const share = part / whole
  const z = 1.96
  const middle = share + (z * z) / (2 * whole)
  const half = z * Math.sqrt((share * (1 - share)) / whole + (z * z) / (4 * whole * whole))
  const [low, high] = [middle - half, middle + half].map(bound =>
    (bound / (1 + (z * z) / whole)).toFixed(2),
  )
  return `${share.toFixed(3)} (${low} – ${high})`
}

/**
 * For each document of NTREX-128 in Dutch and Luxembourgish, finds the articles in another language
 * that are close enough to count as the same event. Measures how often these contain the document's
 * own translation (`reach`), and which share of them is on the same event (`right`).
 */
async function measureCrowd(data: string, embed: Embed, same: SameEvent | null): Promise<Figures> {
  const ntrex = (await readCorpora(data)).find(({ name }) => name === 'ntrex')
  if (ntrex === undefined) return {}
  const eventOf = (item: string) => crowd.sameEvent.find(items => items.includes(item))?.[0] ?? item
  const near = crowd.topics.flatMap((topic, at) =>
    (['nl', 'lb'] as const).map(language => ({
      item: `near-${at}`,
      language,
      title: topic[language][0]!,
      body: topic[language][1]!,
    })),
  )
  const all: { item: string; language: Language; vector: number[] }[] = []
  for (const article of [...ntrex.articles, ...near]) {
    const { item, language } = article
    all.push({ item, language, vector: await embed(article) })
  }
  const figures: Figures = {}
  for (const language of ['nl', 'lb'] as const) {
    for (const found of ntrex.languages.filter(one => one !== language)) {
      const asked = all.filter(one => one.language === language && !one.item.startsWith('near-'))
      const shown = asked.map(({ item, vector }) =>
        all
          .filter(
            one =>
              one.language === found &&
              product(one.vector, vector) >= (thresholdOf(same, language, found) ?? 1),
          )
          .map(one => ({
            isOwn: one.item === item,
            isSame: eventOf(one.item) === eventOf(item),
          })),
      )
      const flat = shown.flat()
      const own = shown.filter(some => some.some(({ isOwn }) => isOwn)).length
      figures[`reach_${language}_${found}`] = rounded(own / asked.length, 3)
      figures[`right_${language}_${found}`] = rounded(
        flat.filter(({ isSame }) => isSame).length / flat.length,
        3,
      )
    }
  }
  return figures
}
