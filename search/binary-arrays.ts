/*
 * Array parameters in the binary form of Postgres (`array_recv`). The `pg` library would write an
 * array as one literal with quotes and escapes, and bytes as hexadecimal digits. The library and
 * Postgres would then process it character by character.
 */

/** The numbers (OIDs) of the types in Postgres. */
const TYPES = { text: 25, bytea: 17 } as const

/**
 * The header of an array: dimensions, whether there are nulls, type, length and lower bound, 4
 * bytes each.
 */
const HEADER = 20

/** A parameter of the type `text[]`. Values that are bytes are texts in UTF-8. */
export const textArray = (values: readonly (string | Uint8Array | null)[]): Buffer =>
  binaryArray(TYPES.text, values)

/** A parameter of the type `bytea[]`. */
export const byteaArray = (values: readonly (Uint8Array | null)[]): Buffer =>
  binaryArray(TYPES.bytea, values)

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

/** The most bytes that a value can take. In UTF-8 a code unit takes three bytes at most. */
const room = (value: string | Uint8Array | null): number =>
  typeof value === 'string' ? value.length * 3 : (value?.length ?? 0)

/** @returns how many bytes it has written */
function write(buffer: Buffer, value: string | Uint8Array, at: number): number {
  if (typeof value === 'string') return buffer.write(value, at)
  buffer.set(value, at)
  return value.length
}
