import { createHash } from 'node:crypto'
import type { Language } from '../../shared/articles/article.ts'
import { readConfig } from '../../shared/config/config.ts'
import { openEmbeddings, sourceOf } from '../../shared/embeddings/embeddings.ts'
import type { SameEvent } from '../../shared/embeddings/models.ts'
import { articleVector, passagesOf } from '../../shared/embeddings/recipe.ts'
import { thresholdOf } from '../../shared/vectors/related.ts'
import { type Figures, rounded, say, sum } from '../figures.ts'
import { readSet } from '../json-lines.ts'
import type { BenchOptions } from '../main.ts'
import { withServers } from '../servers.ts'
import { readCorpora } from './corpora.ts'
import crowd from './near-topics.json' with { type: 'json' }

const TIMEOUT = 120_000
/** Among the articles that a reader sees, this share may report on another event. */
const WRONG = 0.1
/**
 * A pair of languages gets its own threshold if people judged at least this many pairs in it to be
 * on the same event.
 */
const ENOUGH = 50

interface Row {
  pair_id: string
  lang1: string
  lang2: string
  text1: string
  text2: string
  Overall: number
}

/** A pair of articles that people have judged. */
interface Judged {
  languages: string
  closeness: number
  isSame: boolean
  /** In which half of the pairs this pair is. */
  half: boolean
}

type Embed = (article: { title: string; body: string | null }) => Promise<number[]>

/**
 * Measures how close articles on the same event are, with the embedded model. The thresholds are
 * `SameEvent` of `shared/embeddings/models.ts`.
 * - From pairs that people judged (SemEval-2022, task 8), each half gives thresholds, which are
 *   tested on the other half.
 * - The thresholds in the code are tested on NTREX-128, among many articles on near topics.
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
  const isWithin = ({ languages }: Judged) => languages.slice(0, 2) === languages.slice(3)
  const groups = Map.groupBy(judged, ({ languages }) => languages)
  const own = [...groups.keys()].filter(
    key => groups.get(key)!.filter(({ isSame }) => isSame).length >= ENOUGH,
  )
  const from = (half: boolean): SameEvent => ({
    pooled: thresholdFrom(judged.filter(one => one.half === half)),
    of: Object.fromEntries(
      own.map(key => [key, thresholdFrom(groups.get(key)!.filter(one => one.half === half))]),
    ),
  })
  const sets = new Map([true, false].map(half => [half, from(half)]))
  const of = (set: SameEvent | undefined, key: string) => set?.of[key] ?? set?.pooled ?? 1
  const figures: Figures = {}
  for (const key of [...own, 'pooled']) {
    const one = of(sets.get(true), key)
    const other = of(sets.get(false), key)
    figures[`threshold_${key}`] = rounded((one + other) / 2)
    say(`${key}: ${one} from the one half, ${other} from the other`)
  }
  const reported: [string, Judged[]][] = [
    ...groups,
    ['within', judged.filter(isWithin)],
    ['across', judged.filter(pair => !isWithin(pair))],
    ['all', judged],
  ]
  say('pairs: on the same event, shown, right of these (95 %), found of the first (95 %)')
  for (const [name, pairs] of reported) {
    const same = pairs.filter(({ isSame }) => isSame).length
    const shown = pairs.filter(
      ({ languages, closeness, half }) => closeness >= of(sets.get(!half), languages),
    )
    const right = shown.filter(({ isSame }) => isSame).length
    say([name, same, shown.length, inWords(right, shown.length), inWords(right, same)].join('\t'))
    figures[`right_${name}`] = rounded(right / shown.length, 3)
    figures[`found_${name}`] = rounded(right / same, 3)
  }
  return { ...figures, ...(await measureCrowd(data, embed, embeddings.model.same)) }
}

async function judge(rows: Row[], embed: Embed): Promise<Judged[]> {
  const vectors = new Map<string, number[]>()
  for (const text of new Set(rows.flatMap(({ text1, text2 }) => [text1, text2])))
    vectors.set(text, await embed(splitText(text)))
  const halfOf = halves(rows)
  return rows.map(({ pair_id, lang1, lang2, text1, text2, Overall }) => ({
    languages: [lang1, lang2].sort().join('-'),
    closeness: product(vectors.get(text1)!, vectors.get(text2)!),
    isSame: Overall <= 2,
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

/**
 * The threshold of a half: at this closeness or more, at most `WRONG` of its pairs are expected to
 * be wrong. A logistic regression gives the chance that a pair is wrong, so that single pairs move
 * the threshold only a little.
 */
function thresholdFrom(half: Judged[]): number {
  const pairs = half.toSorted((a, b) => b.closeness - a.closeness)
  const chance = regression(pairs)
  let wrong = 0
  let least = 1
  for (const [at, { closeness }] of pairs.entries()) {
    wrong += 1 - chance(closeness)
    if (wrong <= WRONG * (at + 1)) least = closeness
  }
  return rounded(least)
}

/** Fits the chance that a pair is on the same event to its closeness (Newton's method). */
function regression(pairs: Judged[]): (closeness: number) => number {
  let bias = 0
  let slope = 0
  const chance = (closeness: number) => 1 / (1 + Math.exp(-bias - slope * closeness))
  for (let round = 0; round < 30; round++) {
    const errors = pairs.map(({ closeness, isSame }) => Number(isSame) - chance(closeness))
    const weights = pairs.map(({ closeness }) => chance(closeness) * (1 - chance(closeness)))
    const of = (values: number[], power: number) =>
      sum(values.map((value, at) => value * pairs[at]!.closeness ** power))
    const a = of(weights, 0) + 1e-3
    const b = of(weights, 1)
    const c = of(weights, 2) + 1e-3
    const f = of(errors, 0) - 1e-3 * bias
    const g = of(errors, 1) - 1e-3 * slope
    const determinant = a * c - b * b
    bias += (c * f - b * g) / determinant
    slope += (a * g - b * f) / determinant
  }
  return chance
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
