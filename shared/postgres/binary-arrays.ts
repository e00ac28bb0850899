/*
 * Array parameters in the binary form of Postgres (`array_recv`). pg writes an array as one literal
 * with quotes and escapes, bytes as hexadecimal digits, and both sides read it character by
 * character.
 */

/** Numbers of types in the catalogue of Postgres. */
const TYPES = { text: 25, bytea: 17 } as const

/** Dimensions, whether there are nulls, type, length and lower bound: 4 bytes each. */
const HEADER = 20

/** A parameter of the type `text[]`. */
export function textArray(values: readonly (string | null)[]): Buffer {
  // In UTF-8 a code unit takes three bytes at most.
  const room = (value: string | null) => (value === null ? 0 : value.length * 3)
  return binaryArray(TYPES.text, values, room, (buffer, value, at) => buffer.write(value, at))
}

/** A parameter of the type `bytea[]`. */
export function byteaArray(values: readonly Uint8Array[]): Buffer {
  return binaryArray(
    TYPES.bytea,
    values,
    value => value?.length ?? 0,
    (buffer, value, at) => {
      buffer.set(value, at)
      return value.length
    },
  )
}

/**
 * @param room bytes that a value takes at most
 * @param write returns the bytes that it has taken
 */
function binaryArray<T>(
  type: number,
  values: readonly (T | null)[],
  room: (value: T | null) => number,
  write: (buffer: Buffer, value: T, at: number) => number,
): Buffer {
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
