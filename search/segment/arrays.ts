/** The number of bytes of a value as a varint. @param value below 2^28 */
export function varintBytes(value: number): number {
  return value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : 4
}

/**
 * Writes a number as a varint (LEB128: seven bits a byte, lowest first). @returns the place after
 * it
 */
export function writeVarint(buffer: Buffer, at: number, value: number): number {
  let end = at
  let rest = value
  for (; rest > 127; rest >>>= 7) buffer[end++] = (rest & 127) | 128
  buffer[end++] = rest
  return end
}

/** The number of bytes that `writeName` writes: the length as a varint, then the text in UTF-8. */
export function nameBytes(name: string): number {
  const bytes = isShort(name) ? name.length : Buffer.byteLength(name)
  return varintBytes(bytes) + bytes
}

/** Writes the length of a text in bytes, then the text. @returns the place after it */
export function writeName(buffer: Buffer, at: number, name: string): number {
  if (!isShort(name)) {
    const start = writeVarint(buffer, at, Buffer.byteLength(name))
    return start + buffer.write(name, start)
  }
  // This loop writes short ASCII texts, because a call into native code would take longer.
  buffer[at] = name.length
  const start = at + 1
  for (let unit = 0; unit < name.length; unit++) buffer[start + unit] = name.charCodeAt(unit)
  return start + name.length
}

/**
 * Whether a text is ASCII and at most 127 characters long. The length of such a text takes one
 * byte.
 */
function isShort(name: string): boolean {
  if (name.length > 127) return false
  for (let unit = 0; unit < name.length; unit++) if (name.charCodeAt(unit) > 127) return false
  return true
}

/** Bytes, and the place where the next read begins. */
export interface Reader {
  at: number
  readonly bytes: Buffer
}

/** Reads a varint. Beyond the end it reads zeros, so damaged bytes cause no endless loop. */
export function readVarint(reader: Reader): number {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = reader.bytes[reader.at++] ?? 0
    value |= (byte & 127) << shift
    if (byte < 128) return value >>> 0
  }
}

/** Copies an array into a larger one. Returns the larger one. */
export function grown<T extends Int32Array | Uint32Array | Uint16Array | Uint8Array | Float64Array>(
  from: T,
  to: T,
): T {
  to.set(from)
  return to
}

/*
 * The two functions below free memory at once, before the garbage collector runs. Otherwise a
 * segment would take twice its memory. They are for large arrays that no other code refers to.
 */

/** Moves an array into a larger one. The old array and all its views are empty afterwards. */
export function moved(from: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  return new Int32Array(from.buffer.transfer(length * from.BYTES_PER_ELEMENT))
}

/** Frees the memory of an array. All arrays that share its buffer are empty afterwards. */
export function release({ buffer }: Int32Array | Uint16Array | Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/*
 * Bitmaps of a segment's documents: document n is bit n % 32 of word n / 32.
 */

export function hasBit(bits: Uint32Array, doc: number): boolean {
  return ((bits[doc >>> 5]! >>> (doc & 31)) & 1) === 1
}

/** Sets the bits from `from` to before `to`. */
export function fill(bits: Uint32Array, from: number, to: number): void {
  for (let doc = from; doc < to; ) {
    if ((doc & 31) === 0 && doc + 32 <= to) {
      bits[doc >>> 5] = 0xffffffff
      doc += 32
    } else {
      bits[doc >>> 5] = bits[doc >>> 5]! | (1 << (doc & 31))
      doc++
    }
  }
}

/** Sets in `target` the bits that `source` has from `from` to before `to`. */
export function copyBits(source: Uint32Array, target: Uint32Array, from: number, to: number): void {
  if (from >= to) return
  const first = from >>> 5
  const last = (to - 1) >>> 5
  for (let at = first; at <= last; at++) {
    let word = source[at]!
    if (at === first) word &= -1 << (from & 31)
    if (at === last) word &= -1 >>> (31 - ((to - 1) & 31))
    target[at] = target[at]! | word
  }
}

/**
 * Writes the documents of the first `words` words of a bitmap to `docs`, beginning at place `from`.
 */
export function writeDocs(bits: Uint32Array, words: number, docs: Uint16Array, from: number): void {
  let next = from
  for (let at = 0; at < words; at++) {
    for (let word = bits[at]!; word !== 0; word &= word - 1) {
      docs[next++] = (at << 5) + lowestBit(word)
    }
  }
}

/** Visits the numbers of the set bits in ascending order. */
export function eachBit(bits: Uint32Array, visit: (bit: number) => void): void {
  for (let at = 0; at < bits.length; at++) {
    for (let left = bits[at]!; left !== 0; left &= left - 1) visit((at << 5) + lowestBit(left))
  }
}

/** The number of the lowest set bit of a word that is not 0. */
export const lowestBit = (word: number): number => 31 - Math.clz32(word & -word)

/**
 * The number of set bits. Carry-save adders combine eight words into one, so only one word in eight
 * is counted (Harley and Seal; Warren, Hacker's Delight, 2nd ed., 5-1).
 */
export function countBits(bits: Uint32Array, words: number): number {
  let ones = 0
  let twos = 0
  let fours = 0
  let eights = 0
  let at = 0
  for (; at + 8 <= words; at += 8) {
    // `| 0` makes signed words. V8 keeps these as integers, which are faster than floats.
    let a = bits[at]! | 0
    let b = bits[at + 1]! | 0
    let sum = ones ^ a
    const twosA = (ones & a) | (sum & b)
    ones = sum ^ b
    a = bits[at + 2]! | 0
    b = bits[at + 3]! | 0
    sum = ones ^ a
    const twosB = (ones & a) | (sum & b)
    ones = sum ^ b
    a = bits[at + 4]! | 0
    b = bits[at + 5]! | 0
    sum = ones ^ a
    const twosC = (ones & a) | (sum & b)
    ones = sum ^ b
    a = bits[at + 6]! | 0
    b = bits[at + 7]! | 0
    sum = ones ^ a
    const twosD = (ones & a) | (sum & b)
    ones = sum ^ b
    sum = twos ^ twosA
    const foursA = (twos & twosA) | (sum & twosB)
    twos = sum ^ twosB
    sum = twos ^ twosC
    const foursB = (twos & twosC) | (sum & twosD)
    twos = sum ^ twosD
    sum = fours ^ foursA
    eights += bitsOf((fours & foursA) | (sum & foursB))
    fours = sum ^ foursB
  }
  let count = eights * 8 + bitsOf(fours) * 4 + bitsOf(twos) * 2 + bitsOf(ones)
  for (; at < words; at++) count += bitsOf(bits[at]! | 0)
  return count
}

/** The number of set bits of a word. */
export function bitsOf(word: number): number {
  const pairs = (word - ((word >>> 1) & 0x55555555)) | 0
  const fours = ((pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)) | 0
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
