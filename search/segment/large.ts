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
