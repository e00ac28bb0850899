/*
 * Array parameters in the binary form of Postgres (`array_recv`). pg would write an array as one
 * literal with quotes and escapes, and bytes as hexadecimal digits. Both sides would then read it
 * character by character.
 */

/** Numbers of types in the catalogue of Postgres. */
const TYPES = { text: 25, bytea: 17 } as const

/** Dimensions, whether there are nulls, type, length and lower bound: 4 bytes each. */
const HEADER = 20

/** A parameter of the type `text[]`. Bytes are a text in UTF-8. */
export const textArray = (values: readonly (string | Uint8Array | null)[]): Buffer => binaryArray(TYPES.text, values)

/** A parameter of the type `bytea[]`. */
export const byteaArray = (values: readonly Uint8Array[]): Buffer => binaryArray(TYPES.bytea, values)

function binaryArray(type: number, values: readonly (string | Uint8Array | null)[]): Buffer {
  const buffer = Buffer.allocUnsafe(values.reduce((sum, value) => sum + 4 + room(value), HEADER))
  buffer.writeInt32BE(values.length === 0 ? 0 : 1, 0)
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4)
  buffer.writeInt32BE(type, 8)
  if (values.length === 0) return buffer.subarray(0, 12)
  buffer.writeInt32BE(values.length, 12)
  buffer.writeInt32BE(1, 16)
  let end = HEADER
  for (const value of values) {
    const bytes = value === null ? 0 : write(buffer, value, end + 4)
    buffer.writeInt32BE(value === null ? -1 : bytes, end)
    end += 4 + bytes
  }
  return buffer.subarray(0, end)
}

/** Bytes that a value takes at most. In UTF-8 a code unit takes three bytes at most. */
const room = (value: string | Uint8Array | null): number =>
  typeof value === 'string' ? value.length * 3 : (value?.length ?? 0)

/** @returns the bytes that it has taken */
function write(buffer: Buffer, value: string | Uint8Array, at: number): number {
  if (typeof value === 'string') return buffer.write(value, at)
  buffer.set(value, at)
  return value.length
}
