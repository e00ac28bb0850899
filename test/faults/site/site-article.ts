import { SAMPLE_OUTLETS } from '#infra/outlets/sample/outlets'
import { createRandom, type Random } from '#test/faults/random'
import { SITE_OUTLETS, type SiteOutlet } from './outlets.ts'

export interface SiteArticle {
  /**
   * Counts through the whole run; stands in the title, so that an article is known whatever its
   * address.
   */
  number: number
  outlet: SiteOutlet
  title: string
  paragraphs: string[]
  authors: string[]
  publishedAt: Date
  /** Whether page and feed say when it was published. */
  dated: boolean
  path: string
  shortPath: string
  mood: Mood
}

/**
 * Made-up words: a title has one or two of them, so that the answer to a query is known beforehand.
 */
export const TOPICS = [
  'Quorvex',
  'Blandor',
  'Mirtazon',
  'Ophelwijn',
  'Strakkum',
  'Zevelari',
] as const

const NAMES = [
  'Tessa Molenaar',
  'Luc Dewael',
  'Amina Bakkali',
  'Jean-Marc Thill',
  'Pia Weber',
  'Owen Hartley',
]

/**
 * Sentences of the sample outlets' texts, by language: no two articles that are made of them read
 * the same.
 */
const SENTENCES: ReadonlyMap<string, string[]> = readSentences()

export function composeArticle(
  random: Random,
  outlet: SiteOutlet,
  number: number,
  publishedAt: Date,
): SiteArticle {
  const sentences = SENTENCES.get(outlet.language) ?? []
  const topics = random.shuffled(TOPICS).slice(0, random.chance(0.3) ? 2 : 1)
  const start = random.pick(sentences).split(' ').slice(0, 6).join(' ').replace(/\W+$/, '')
  return {
    number,
    outlet,
    title: `${topics.join(' ')}: ${start} (${tag(number)})`,
    // Short: the model of the run has to read all of them.
    paragraphs: [`${topics[0]} ${tag(number)}. ${random.pick(sentences)}`, random.pick(sentences)],
    authors: random.chance(0.7) ? [random.pick(NAMES)] : [],
    publishedAt: new Date(Math.floor(publishedAt.getTime() / 1000) * 1000),
    dated: random.chance(0.96),
    path: `/artikel/${number}-${topics.join('-').toLowerCase()}.html`,
    shortPath: `/s/${number}`,
    mood: moodFor(outlet, drawMood(random)),
  }
}

/** A page that is refused tells nobody that it is the same as the one behind a short link. */
function moodFor({ feeds }: SiteOutlet, mood: Mood): Mood {
  return mood === 'refused' && feeds.some(({ links }) => links === 'short') ? 'well' : mood
}

/** `N000042`: one word to every tokenizer. */
export const tag = (number: number): string => `N${String(number).padStart(6, '0')}`

/** The number of the article that bears this title; null when it is none of ours. */
export function numberIn(title: string): number | null {
  const found = /\(N(\d{6})\)/.exec(title)
  return found ? Number(found[1]) : null
}

function readSentences(): Map<string, string[]> {
  const byLanguage = new Map<string, string[]>()
  for (const outlet of SAMPLE_OUTLETS) {
    for (const { language, paragraphs } of outlet.texts) {
      const sentences = paragraphs.flatMap(paragraph => paragraph.split(/(?<=[.!?])\s+(?=\p{Lu})/u))
      const known = byLanguage.get(language) ?? []
      byLanguage.set(language, [
        ...known,
        ...sentences.filter(({ length }) => length > 60 && length < 260),
      ])
    }
  }
  return byLanguage
}

/** How a page answers. `…Once`: the first request fails so, all others are answered. */
export type Mood =
  | 'well'
  | 'slow'
  | 'errorOnce'
  | 'resetOnce'
  | 'cutOnce'
  | 'silentOnce'
  | 'moved'
  | 'refused'

const SHARES: readonly [Mood, number][] = [
  ['slow', 0.04],
  ['errorOnce', 0.04],
  ['resetOnce', 0.02],
  ['cutOnce', 0.03],
  ['silentOnce', 0.01],
  ['moved', 0.03],
  ['refused', 0.02],
]

function drawMood(random: Random): Mood {
  let drawn = random.next()
  for (const [mood, share] of SHARES) {
    drawn -= share
    if (drawn < 0) return mood
  }
  return 'well'
}

/** Imported articles are numbered from here on; the site never gets that far. */
export const IMPORTED_FROM = 500_000
const DAY_MS = 86_400_000
/** Inside the history that the readers' key covers. */
const OLDEST_DAYS = 20

/** A file as `npm run import` reads it, one line an article, spread over the last weeks. */
export function writeImport(seed: number, count: number): string {
  const random = createRandom(seed, 'archive')
  const lines: string[] = []
  for (let number = IMPORTED_FROM; number < IMPORTED_FROM + count; number++) {
    const outlet = random.pick(SITE_OUTLETS)
    const at = new Date(Date.now() - random.between(1, OLDEST_DAYS) * DAY_MS)
    const { title, authors, paragraphs, publishedAt } = composeArticle(random, outlet, number, at)
    lines.push(
      JSON.stringify({
        title,
        url: `https://www.${outlet.domain}/archief/${number}.html`,
        body: paragraphs.join('\n\n'),
        published_at: publishedAt.toISOString(),
        authors,
        outlet: { name: outlet.name, domain: outlet.domain },
        language: outlet.language,
        country: outlet.country,
      }),
    )
  }
  return `${lines.join('\n')}\n`
}
