import type { NewArticle, Stated } from '#search/types'
import { ACCESSES, COUNTRIES, KINDS, LANGUAGES } from '#shared/articles/article'
import type { Random } from '#test/faults/random'

/** Folded it is so long that its term is a digest. */
const LONG = 'ﬃ'.repeat(86)

/**
 * Few words, so that they meet often: stop words of all languages, inflected forms, accents,
 * ligatures, digits.
 */
const VOCABULARY = [
  ...'de het een van en in op te dat die niet is le la les des et un une du der die das und ein nicht zu the of to be or not and it dei den vum ass'.split(
    ' ',
  ),
  ...'fiets fietsen Fietser gemeente gemeenten huis huizen élection élections Élection élu élue économie économique'.split(
    ' ',
  ),
  ...'Haus Häuser Straße STRASSE straßen Regierung Regierungen Gemeng Gemengen cœur coeur œuvre bicycle bicycles running runs'.split(
    ' ',
  ),
  ...'COVID 19 2026 CO₂ CO2 m² ﬁlm film Łódź Lodz smørrebrød İstanbul ıstanbul ĳs ijs 𝐀𝐁 ab x́y ٣ ΟΔΟΣ'.split(
    ' ',
  ),
  // A Dutch stop word, and a word with the stem that it would have.
  'was',
  'wassen',
  // Often enough to be asked for.
  ...Array<string>(3).fill(LONG),
  ...Array<string>(3).fill(`${LONG}y`),
]
const SEPARATORS = [
  ' ',
  ' ',
  ' ',
  ' ',
  ' ',
  ' ',
  '-',
  "'",
  ', ',
  '. ',
  '\n\n',
  '\u00a0',
  '½',
  '™',
  '/',
  ' – ',
  ' "',
  '" ',
  '\u00ad',
  '\u200b',
  ' (',
  ') ',
]
const OUTLETS = [
  { name: 'De Dagkoerier', domain: 'dagkoerier.example' },
  { name: 'Lëtzebuerger Blat', domain: 'blat.lu.example' },
  { name: 'Le 100%_Écho', domain: null },
  { name: null, domain: 'noname.example' },
]
const AUTHORS = [
  'Jan Jansen',
  'Zoë Müller',
  'jan de Vries',
  'É. O\u2019Neill',
  'Eva O\u02bcNeill',
  'A_B',
  'A%B',
  'AB',
  'Anna van den Berg',
  'Johan Van\u00a0de Ven',
  'Weiß',
  'Ann\u00adBa 😀 Van',
]

/** Of these alone many texts have the same pairs and triples, and lack the one word more. */
const FEW_WORDS = ['de', 'fiets', 'film', 'huis', 'the']

function randomText(random: Random, words: number): string {
  const vocabulary = random.chance(0.4) ? FEW_WORDS : VOCABULARY
  let text = ''
  for (let at = 0; at < words; at++)
    text += (at === 0 ? '' : random.pick(SEPARATORS)) + random.pick(vocabulary)
  return text
}

/** Words from nearly every text's to one text's, so that lists of every length meet. */
export function gradedText(random: Random, words: number): string {
  return Array.from({ length: words }, () => {
    const rank = Math.floor(2_000 ** (random.below(1_000_000) / 1_000_000)) - 1
    return VOCABULARY[rank] ?? `woord${rank}`
  }).join(' ')
}

/** Around a leap day, and the turn of a year in Amsterdam and Greenwich. */
const MIDNIGHTS = [
  '2020-02-28T23:59:59.999Z',
  '2020-02-29T00:00:00Z',
  '2020-03-01T00:00:00Z',
  '2024-12-31T23:00:00Z',
  '2024-12-31T23:59:59.999Z',
  '2025-01-01T00:00:00Z',
].map(time => new Date(time))

/** What an outlet says of an article; some say nothing. */
export const statedOf = (number: number): Stated => ({
  section: [null, 'Politiek', 'POLITIEK', 'Économie', 'Sport', null, 'economie'][number % 7]!,
  kind: [null, ...KINDS, null][number % 8] ?? null,
  access: [null, ...ACCESSES][number % 3]!,
})

/** Articles with many equal and missing times, and texts made of few words. */
export function randomArticles(
  random: Random,
  count: number,
  text = randomText,
  longest = 60,
): NewArticle[] {
  const from = Date.UTC(2015, 0)
  const span = Date.UTC(2026, 0) - Date.UTC(2015, 0)
  const times = Array.from({ length: 25 }, () => new Date(from + random.below(span)))
  return Array.from({ length: count }, (_, number) => {
    const article: NewArticle = {
      url: `https://random.example/${number}`,
      addresses: [`random.example/${number}`],
      title: text(random, 1 + random.below(8)),
      body: random.chance(0.15) ? null : text(random, random.below(longest)),
      publishedAt: random.chance(0.15) ? null : random.pick(random.chance(0.2) ? MIDNIGHTS : times),
      authors: random.chance(0.5) ? [] : random.some(AUTHORS).slice(0, 3),
      outlet: random.pick(OUTLETS),
      language: random.pick(LANGUAGES),
      country: random.pick(COUNTRIES),
      stated: statedOf(number),
    }
    if (random.chance(0.2)) article.ingestedAt = null
    else if (random.chance(0.7)) article.ingestedAt = random.pick(times)
    return article
  })
}

/**
 * Bodies that one tsvector cannot hold: too long, a word too often, too many different words
 * (decision 18, findings).
 */
export function longArticles(random: Random): NewArticle[] {
  const long = (number: number, body: string): NewArticle => ({
    url: `https://long.example/${number}`,
    addresses: [`long.example/${number}`],
    title: `the long ${randomText(random, 3)}`,
    body,
    publishedAt: new Date(Date.UTC(2020, 0, 1 + number)),
    authors: [],
    outlet: OUTLETS[0]!,
    language: LANGUAGES[number % LANGUAGES.length]!,
    country: 'NL',
  })
  const filler = Array.from({ length: 17_000 }, (_, at) => `w${at % 7000}`).join(' ')
  const different = Array.from({ length: 160_000 }, (_, at) => `q${at.toString(36)}z`).join(' ')
  return [
    long(0, `${filler} ${randomText(random, 200)}`),
    long(1, `${'huis '.repeat(400)} huis de film ${randomText(random, 50)}`),
    long(2, `${different} ${randomText(random, 200)}`),
    long(3, `${'x'.repeat(3_000)} fiets ${'y'.repeat(900_000)} ${randomText(random, 20)}`),
    long(4, `${randomText(random, 20)} ${'de het '.repeat(9_000)} fiets ${randomText(random, 20)}`),
  ]
}
