/** Bytes of a number as a varint. @param value below 2^28 */
export function varintBytes(value: number): number {
  return value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : 4
}

/** LEB128: seven bits a byte, lowest first. @returns where it ends */
export function writeVarint(buffer: Buffer, at: number, value: number): number {
  let end = at
  let rest = value
  for (; rest > 127; rest >>>= 7) buffer[end++] = (rest & 127) | 128
  buffer[end++] = rest
  return end
}

/** Bytes of a text after its length in bytes, a varint. */
export function nameBytes(name: string): number {
  const bytes = isShort(name) ? name.length : Buffer.byteLength(name)
  return varintBytes(bytes) + bytes
}

/** Writes a text after its length in bytes. @returns where it ends */
export function writeName(buffer: Buffer, at: number, name: string): number {
  if (!isShort(name)) {
    const start = writeVarint(buffer, at, Buffer.byteLength(name))
    return start + buffer.write(name, start)
  }
  // Without a call into native code.
  buffer[at] = name.length
  const start = at + 1
  for (let unit = 0; unit < name.length; unit++) buffer[start + unit] = name.charCodeAt(unit)
  return start + name.length
}

/** Whether a text is ASCII, and its length one byte. */
function isShort(name: string): boolean {
  if (name.length > 127) return false
  for (let unit = 0; unit < name.length; unit++) if (name.charCodeAt(unit) > 127) return false
  return true
}

/** Reads what was written, from its beginning. */
export interface Reader {
  at: number
  readonly bytes: Buffer
}

export function readVarint(reader: Reader): number {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = reader.bytes[reader.at++]!
    value |= (byte & 127) << shift
    if (byte < 128) return value >>> 0
  }
}

/** Copies an array into a larger one, and returns the larger one. */
export function grown<T extends Int32Array | Uint32Array | Uint16Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/*
 * Arrays of many megabytes that nobody else refers to. Their memory is free at once, not when the
 * garbage collector comes: a segment would take twice its memory otherwise.
 */

/** Moves an array into a larger one. The former one is empty afterwards, and so are its views. */
export function moved(from: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  return new Int32Array(from.buffer.transfer(length * from.BYTES_PER_ELEMENT))
}

/** Frees an array, and all arrays that share its buffer. */
export function release({ buffer }: Int32Array | Uint16Array | Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

export const HASH_SEED = 0x811c9dc5

/** FNV-1a over UTF-16 code units, then the finaliser of MurmurHash3: all 32 bits are well mixed. */
export function hashOf(text: string): number {
  let hash = HASH_SEED
  for (let at = 0; at < text.length; at++) hash = hashStep(hash, text.charCodeAt(at))
  return finishHash(hash)
}

/** The hash with one more code unit; `finishHash` comes last. */
export function hashStep(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193)
}

/** Of two neighbouring words, by their own hashes; their order counts. */
export function pairHash(first: number, second: number): number {
  return finishHash(Math.imul(first, 0x9e3779b1) ^ second)
}

export function finishHash(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
