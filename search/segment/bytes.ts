/** A buffer that grows as it is written. */
export interface Writer {
  byte(value: number): void
  /** LEB128: seven bits a byte, lowest first. */
  varint(value: number): void
  bytes(source: Uint8Array): void
  /** A text after its length in bytes, a varint. */
  name(value: string): void
  length(): number
  /** The bytes written so far; valid until the next write. */
  view(): Buffer
  clear(): void
}

export function createWriter(capacity = 4096): Writer {
  let buffer = Buffer.allocUnsafe(capacity)
  let end = 0
  const room = (bytes: number) => {
    if (end + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, end + bytes))
    buffer.copy(larger, 0, 0, end)
    buffer = larger
  }
  const varint = (value: number) => {
    room(5)
    let rest = value
    for (; rest > 127; rest >>>= 7) buffer[end++] = (rest & 127) | 128
    buffer[end++] = rest
  }
  const text = (value: string) => {
    room(value.length * 3)
    end += buffer.write(value, end)
  }
  /** Writes a short ASCII text with its length, without a call into native code. */
  const shortName = (value: string): boolean => {
    if (value.length > 127) return false
    room(1 + value.length)
    for (let at = 0; at < value.length; at++) {
      const unit = value.charCodeAt(at)
      if (unit > 127) return false
      buffer[end + 1 + at] = unit
    }
    buffer[end] = value.length
    end += 1 + value.length
    return true
  }
  return {
    byte(value) {
      room(1)
      buffer[end++] = value
    },
    varint,
    bytes(source) {
      room(source.length)
      buffer.set(source, end)
      end += source.length
    },
    name(value) {
      if (shortName(value)) return
      varint(Buffer.byteLength(value))
      text(value)
    },
    length: () => end,
    view: () => buffer.subarray(0, end),
    clear() {
      end = 0
    },
  }
}

/** Bytes of a number as a varint. @param value below 2^28 */
export function varintBytes(value: number): number {
  return value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : 4
}

/** Reads what a writer wrote, from its beginning. */
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
