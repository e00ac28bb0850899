/**
 * One line of a stream, without its end. `text` is null for a line longer than the limit: its bytes
 * were dropped.
 */
export interface Line {
  number: number
  text: string | null
  /** Bytes of the stream up to the end of this line. */
  end: number
}

/**
 * Cuts a stream of bytes into lines of UTF-8 (broken sequences become U+FFFD, a byte-order mark
 * goes). No line takes more memory than `limit` bytes. null: nothing has come for a while.
 */
export async function* readLines(stream: AsyncIterable<Buffer | null>, limit: number): AsyncGenerator<Line | null> {
  const decoder = new TextDecoder()
  let number = 1
  let end = 0
  let parts: Buffer[] = []
  let length = 0
  const finish = (): Line => {
    const line = { number, end, text: length > limit ? null : decoder.decode(Buffer.concat(parts)).replace(/\r$/, '') }
    number++
    parts = []
    length = 0
    return line
  }
  for await (const chunk of stream) {
    if (chunk === null) {
      yield null
      continue
    }
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      length += at - from
      if (length <= limit) parts.push(chunk.subarray(from, at))
      end += at - from + 1
      from = at + 1
      yield finish()
    }
    length += chunk.length - from
    end += chunk.length - from
    if (length <= limit) parts.push(chunk.subarray(from))
    else parts = []
  }
  if (length > 0) yield finish()
}
