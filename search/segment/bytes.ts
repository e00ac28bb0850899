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
