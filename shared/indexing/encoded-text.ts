import type { PreparedText } from './text.ts'

/** A prepared text in UTF-8, as Postgres takes it. */
export type EncodedText = PreparedText<Uint8Array>

/**
 * Encodes the texts of many articles into one buffer, which a thread can hand over without a copy.
 * Strings would be written and read again on the way to another thread.
 */
export function createEncoder() {
  let bytes = Buffer.from(new ArrayBuffer(1 << 20))
  let end = 0
  /** @returns where the text begins and ends */
  const add = (text: string): [number, number] => {
    // In UTF-8 a code unit takes three bytes at most.
    const needed = end + text.length * 3
    if (needed > bytes.length) {
      bytes = Buffer.from(bytes.buffer.transfer(Math.max(bytes.length * 2, needed)))
    }
    const start = end
    end += bytes.write(text, end)
    return [start, end]
  }
  const texts: (() => EncodedText)[] = []
  return {
    add({ title, body, snippet, words, units }: PreparedText): void {
      const places = {
        title: add(title),
        body: body === null ? null : add(body),
        snippet: snippet === null ? null : add(snippet),
        words: { title: add(words.title), body: add(words.body) },
      }
      const view = ([from, to]: [number, number]) => new Uint8Array(bytes.buffer, from, to - from)
      texts.push(() => ({
        title: view(places.title),
        body: places.body && view(places.body),
        snippet: places.snippet && view(places.snippet),
        words: { title: view(places.words.title), body: view(places.words.body) },
        units,
      }))
    },
    /** The texts in the order in which they were added, all in `buffer`. */
    finish(): { texts: EncodedText[]; buffer: ArrayBuffer } {
      bytes = Buffer.from(bytes.buffer.transfer(end))
      return { texts: texts.map(text => text()), buffer: bytes.buffer }
    },
  }
}
