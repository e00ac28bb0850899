/** A name with the number of an outlet or author that has it. */
export interface ListedName {
  no: number
  /** Folded (`analysis/folding.ts`). */
  text: string
  articles: number
  /** A bit for each country that has such articles. */
  countries: number
}

/** Names in memory, in which parts of names are looked up. 500,000 names of authors take 15 MB. */
export interface NameList {
  readonly size: number
  /**
   * Numbers of the names that contain a text, each once: names that begin with it, then names of
   * which a word begins with it, then the others; in each group the names with the most articles
   * first. Of equal names, the one with the most articles alone.
   *
   * @param text folded, not empty
   * @param countries only names with articles in one of them
   */
  find(text: string, countries: number, limit: number): number[]
}

/** No text contains it. */
const SEPARATOR = '\n'
/** Names that are looked at for one text, at most; those that follow have fewer articles. */
const MOST_LOOKED_AT = 5_000
/** Names between two calls of the pace. */
const NAMES_PER_PACE = 8_192

/** @param pace called often, so that others run meanwhile */
export async function createNameList(names: ListedName[], pace: () => Promise<void>): Promise<NameList> {
  const size = names.length
  const nos = new Int32Array(size)
  const countries = new Uint8Array(size)
  const starts = new Uint32Array(size + 1)
  const parts: string[] = []
  const order = await mostArticlesFirst(names, pace)
  let length = 1
  for (let from = 0; from < size; from += NAMES_PER_PACE) {
    let part = ''
    for (let at = from; at < Math.min(size, from + NAMES_PER_PACE); at++) {
      const name = names[order[at]!]!
      nos[at] = name.no
      countries[at] = name.countries
      starts[at] = length
      part += name.text + SEPARATOR
      length += name.text.length + 1
    }
    parts.push(part)
    await pace()
  }
  starts[size] = length
  const texts = SEPARATOR + parts.join('')

  return {
    size,
    find(text, wanted, limit) {
      const groups: number[][] = [[], [], []]
      const found = new Set<number>()
      const foundTexts = new Set<string>()
      let line = 0
      let at = texts.indexOf(text)
      for (let seen = 0; at >= 0 && seen < MOST_LOOKED_AT && groups[0]!.length < limit; seen++) {
        line = lineOf(starts, at, line)
        const group = groups[at === starts[line] ? 0 : startsWord(texts, at) ? 1 : 2]!
        const no = nos[line]!
        if ((countries[line]! & wanted) !== 0 && group.length < limit && !found.has(no)) {
          const whole = texts.slice(starts[line]!, starts[line + 1]! - 1)
          if (!foundTexts.has(whole)) group.push(no)
          foundTexts.add(whole)
          found.add(no)
        }
        // Goes on with the next name.
        at = texts.indexOf(text, starts[line + 1]! - 1)
      }
      return groups.flat().slice(0, limit)
    },
  }
}

/** Indexes of names by their number of articles, descending; a counting sort. */
async function mostArticlesFirst(names: ListedName[], pace: () => Promise<void>): Promise<Uint32Array> {
  const most = 65_535
  const ends = new Uint32Array(most + 2)
  for (const [index, { articles }] of names.entries()) {
    ends[most - Math.min(articles, most) + 1]! += 1
    if (index % NAMES_PER_PACE === 0) await pace()
  }
  for (let rank = 1; rank < ends.length; rank++) ends[rank]! += ends[rank - 1]!
  const order = new Uint32Array(names.length)
  for (const [index, { articles }] of names.entries()) {
    const rank = most - Math.min(articles, most)
    order[ends[rank]!] = index
    ends[rank]! += 1
    if (index % NAMES_PER_PACE === 0) await pace()
  }
  return order
}

/** The line that holds a place in the texts: `from`, or one that follows. */
function lineOf(starts: Uint32Array, place: number, from: number): number {
  let step = 1
  let low = from
  while (low + step < starts.length && starts[low + step]! <= place) {
    low += step
    step *= 2
  }
  let high = Math.min(starts.length, low + step)
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (starts[middle]! <= place) low = middle
    else high = middle
  }
  return low
}

const LETTER = /[\p{L}\p{N}]$/u

/** Whether a word begins here: the character before is no letter and no digit. */
const startsWord = (texts: string, at: number) => !LETTER.test(texts.slice(Math.max(0, at - 2), at))
