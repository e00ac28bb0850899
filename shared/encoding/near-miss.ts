/**
 * The known name that an unknown name probably means; null: no known name is similar. Case and
 * punctuation do not count.
 *
 * @param most how many slips the name may have. Absent: none in a name of one or two letters, one
 *   in a short name, two in a longer name. A name such as `q` would otherwise match every single
 *   letter.
 */
export function nearestName(name: string, known: readonly string[], most?: number): string | null {
  if (name.length > 40) return null
  const written = plain(name)
  if (written === '') return null
  const allowed = most ?? (written.length <= 2 ? 0 : written.length <= 5 ? 1 : 2)
  let best: string | null = null
  let tooFar = allowed + 1
  for (const one of known) {
    const other = plain(one)
    // Each start compares all variables with all settings. A slip adds one letter at most.
    if (Math.abs(other.length - written.length) >= tooFar) continue
    const distance = editDistance(written, other)
    if (distance < tooFar) [best, tooFar] = [one, distance]
  }
  return best
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/**
 * How many insertions, deletions, replacements and swaps of neighbours turn one short word into the
 * other (optimal string alignment).
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1)
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, beforeLast[j - 2]! + 1)
      }
      row.push(least)
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length]!
}
