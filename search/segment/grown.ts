/** Copies an array into a larger one, and returns the larger one. */
export function grown<T extends Int32Array | Uint32Array | Uint16Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
