/** The type `text` in the catalogue of Postgres. */
const TEXT = 25

/** Dimensions, whether there are nulls, type, length and lower bound: 4 bytes each. */
const HEADER = 20

/**
 * A parameter of the type `text[]` in the binary form of Postgres (`array_recv`). pg writes an
 * array as one literal with quotes and escapes, which both sides then read character by character.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  let room = HEADER
  // In UTF-8 a code unit takes three bytes at most.
  for (const value of values) room += 4 + (value === null ? 0 : value.length * 3)
  const buffer = Buffer.allocUnsafe(room)
  buffer.writeInt32BE(values.length === 0 ? 0 : 1, 0)
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4)
  buffer.writeInt32BE(TEXT, 8)
  if (values.length === 0) return buffer.subarray(0, 12)
  buffer.writeInt32BE(values.length, 12)
  buffer.writeInt32BE(1, 16)
  let end = HEADER
  for (const value of values) {
    const bytes = value === null ? 0 : buffer.write(value, end + 4)
    buffer.writeInt32BE(value === null ? -1 : bytes, end)
    end += 4 + bytes
  }
  return buffer.subarray(0, end)
}
