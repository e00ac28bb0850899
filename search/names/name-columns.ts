import { grown } from '../segment/grown.ts'
import { finishHash, HASH_SEED, hashStep } from '../segment/hashing.ts'

/** Names as lists of the ids of their words. Each has the number of an outlet or author. */
export interface NameColumns {
  readonly size: number
  readonly bytes: number
  /** No number is higher. */
  highest(): number
  /** Number of name n. Arrays are replaced when they grow. */
  nos(): Int32Array
  /** Words of name n are `ids` from `starts[n]` to before `starts[n + 1]`. */
  starts(): Uint32Array
  ids(): Int32Array
  addWord(id: number): void
  endName(no: number): void
  /** Names of a number: from one to before another. They were added side by side. */
  namesOf(no: number): { from: number; to: number }
  /** Equal for numbers with equal names. */
  hash(no: number): number
  areEqual(a: number, b: number): boolean
}

export function createNameColumns(): NameColumns {
  let nos = new Int32Array(1 << 10)
  let starts = new Uint32Array(1 << 10)
  let ids = new Int32Array(1 << 12)
  /** A number's first name, from 1 on. */
  let firsts = new Uint32Array(1 << 10)
  let [size, used] = [0, 0]

  const namesOf = (no: number) => {
    const first = firsts[no] ?? 0
    if (first === 0) return { from: 0, to: 0 }
    let to = first
    while (to < size && nos[to] === no) to++
    return { from: first - 1, to }
  }
  return {
    get size() {
      return size
    },
    get bytes() {
      return nos.byteLength + starts.byteLength + ids.byteLength + firsts.byteLength
    },
    highest: () => firsts.length - 1,
    nos: () => nos,
    starts: () => starts,
    ids: () => ids,
    addWord(id) {
      if (used === ids.length) ids = grown(ids, new Int32Array(used * 2))
      ids[used++] = id
    },
    endName(no) {
      if (size + 1 === starts.length) {
        starts = grown(starts, new Uint32Array(starts.length * 2))
        nos = grown(nos, new Int32Array(starts.length))
      }
      if (no >= firsts.length) firsts = grown(firsts, new Uint32Array(Math.max(no + 1, firsts.length * 2)))
      nos[size++] = no
      starts[size] = used
      if (firsts[no] === 0) firsts[no] = size
    },
    namesOf,
    hash(no) {
      const { from, to } = namesOf(no)
      let hash = HASH_SEED
      for (let at = starts[from]!; at < starts[to]!; at++) hash = hashStep(hash, ids[at]!)
      return finishHash(hash)
    },
    areEqual(a, b) {
      const [one, other] = [namesOf(a), namesOf(b)]
      const names = one.to - one.from
      if (other.to - other.from !== names) return false
      const apart = starts[other.from]! - starts[one.from]!
      for (let name = 1; name <= names; name++) {
        if (starts[other.from + name]! - starts[one.from + name]! !== apart) return false
      }
      for (let at = starts[one.from]!; at < starts[one.to]!; at++) if (ids[at] !== ids[at + apart]) return false
      return true
    },
  }
}
