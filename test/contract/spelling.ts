import type { Random } from '#test/faults/random'
import type { Question } from '#test/search/oracle'

/** A question as a client sends it, without the additions of its plan. */
export interface Asked extends Omit<Question, 'countries'> {
  /** null: all that the plan covers. */
  countries: Question['countries'] | null
}

/**
 * Writes a question as a query string, in one of the many forms that mean the same (decisions 9,
 * 11, 12, 21).
 */
export function spell(random: Random, asked: Asked): string {
  const { reach, ingestedAfter } = asked
  const pairs: string[] = []
  const add = (name: string, value: string | null) => {
    if (value !== null) pairs.push(`${name}=${encoded(random, value)}`)
    else if (random.chance(0.05)) pairs.push(`${name}=${random.pick(['', '+', '%20'])}`)
  }
  const unless = (fallback: string, value: string) =>
    value === fallback && random.chance(0.7) ? null : cased(random, value)
  add('q', asked.q === null ? null : random.pick(['', ' ']) + asked.q)
  add('search', unless('keyword', asked.search))
  add('search_in', unless(asked.search === 'expression' ? 'title_body' : 'title', asked.searchIn))
  list(random, pairs, 'country', asked.countries)
  list(random, pairs, 'language', asked.languages)
  list(random, pairs, 'outlets', asked.outlets)
  const flag = asked.hasAuthor ? ['true', 'YES', '1'] : ['False', 'no', '0']
  add('has_author', asked.hasAuthor === null ? null : random.pick(flag))
  add('outlet', asked.outlet)
  add('author', asked.author)
  // The contract knows neither of these, even empty.
  if (asked.section !== null) add('section', asked.section)
  list(random, pairs, 'kind', asked.kinds)
  if (asked.access !== null) add('access', cased(random, asked.access))
  add('published_after', reach.publishedAfter && instant(random, reach.publishedAfter, true))
  add('published_before', reach.publishedBefore && upperBound(random, reach.publishedBefore))
  add('ingested_after', ingestedAfter && instant(random, ingestedAfter, false))
  add('sort', unless('published_at', asked.sort))
  add('order', unless('desc', asked.order))
  add(
    'per_page',
    asked.perPage === 25 && random.chance(0.7) ? null : random.pick(['', '0']) + asked.perPage,
  )
  return random.shuffled(pairs).join('&')
}

/** Repeated, bracketed, comma-separated, and any mixture. */
function list(
  random: Random,
  pairs: string[],
  name: string,
  values: readonly string[] | null,
): void {
  let left =
    values === null
      ? []
      : random.shuffled(random.chance(0.2) ? [...values, values[0]!] : [...values])
  while (left.length > 0) {
    const taken = left.slice(0, 1 + random.below(left.length))
    left = left.slice(taken.length)
    const written = taken
      .map(value => random.pick(['', ' ']) + cased(random, value))
      .join(random.pick([',', ',,']))
    pairs.push(
      `${name}${random.pick(['', '[]', '%5B%5D'])}=${encoded(random, written + random.pick(['', '', ',']))}`,
    )
  }
}

const DAY = 86_400_000

/** The last ms of a day is written as that day. */
const upperBound = (random: Random, at: Date): string =>
  (at.getTime() + 1) % DAY === 0 ? at.toISOString().slice(0, 10) : instant(random, at, false)

/** A time in UTC or at an offset, with `T` or a space. */
function instant(random: Random, at: Date, days: boolean): string {
  if (days && at.getTime() % DAY === 0 && random.chance(0.5)) return at.toISOString().slice(0, 10)
  const minutes = random.pick([0, 0, 60, -330, 120])
  const local = new Date(at.getTime() + minutes * 60_000).toISOString().slice(0, -1)
  const time = at.getTime() % 1_000 === 0 && random.chance(0.5) ? local.slice(0, -4) : local
  const sign = minutes < 0 ? '-' : '+'
  const offset = `${sign}${new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16)}`
  return (
    time.replace('T', random.pick(['T', 't', ' '])) +
    (minutes === 0 ? random.pick(['Z', 'z', '']) : offset)
  )
}

function cased(random: Random, value: string): string {
  return random.pick([value, value.toUpperCase(), value.toLowerCase()])
}

function encoded(random: Random, value: string): string {
  const text = encodeURIComponent(random.chance(0.2) ? value.normalize('NFD') : value)
  return random.chance(0.5)
    ? text.replaceAll('%20', '+')
    : text.replace(/%[0-9A-F]{2}/g, byte => byte.toLowerCase())
}
