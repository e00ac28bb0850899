import { once } from 'node:events'
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  parentPort,
  Worker,
  workerData,
} from 'node:worker_threads'
import { type Brake, noBrake } from '../pace.ts'
import { release } from './arrays.ts'
import { type EncodedPart, encodePart } from './buckets.ts'
import { ngramLists } from './ngrams.ts'
import { createNumbers, type SegmentTexts } from './postings-builder.ts'
import { type Words, type WordTexts, wordsOf } from './word-ids.ts'

/*
 * N-grams are half of the work on a segment. For an import, a thread of its own makes them, while
 * the segment's thread makes the posting lists of words.
 */

/** Encodes the n-grams of a segment. Frees the memory of its words. */
export const encodeNgrams = (
  texts: SegmentTexts,
  words: Words,
  rule: number,
  brake: Brake,
): EncodedPart => encodePart(texts.ends.length, brake, ngramLists(texts, words, brake, rule))

interface Question {
  texts: Omit<SegmentTexts, 'words'> & { words: Int32Array<ArrayBuffer> }
  words: WordTexts
  rule: number
  /** The thread sends its answer to this port, which belongs to this question alone. */
  port: MessagePort
}

export interface NgramThread {
  /**
   * Resolves when the thread has loaded its modules. Node crashes if the thread is ended before.
   */
  loaded: Promise<unknown>
  encode(texts: SegmentTexts, vocabulary: WordTexts, rule: number): Promise<EncodedPart>
}

/**
 * Starts a thread that makes n-grams. It ends with the thread that opens it. An error in it ends
 * both threads.
 */
export function openNgramThread(): NgramThread {
  const worker = new Worker(new URL(import.meta.url), { workerData: MARK })
  worker.unref()
  return {
    loaded: once(worker, 'message'),
    async encode({ words, ...texts }, vocabulary, rule) {
      const { port1, port2 } = new MessageChannel()
      const question: Question = {
        texts: { ...texts, words: words.view().slice() },
        words: vocabulary,
        rule,
        port: port2,
      }
      const { units, ends, hashes } = vocabulary
      const arrays = [question.texts.words, units, ends, hashes]
      worker.postMessage(question, [port2, ...arrays.map(({ buffer }) => buffer)])
      const [answer] = await once(port1, 'message')
      port1.close()
      return answer
    },
  }
}

const MARK = 'makes n-grams'

if (!isMainThread && workerData === MARK) {
  parentPort?.on('message', ({ texts, words, rule, port }: Question) => {
    const numbers = createNumbers(texts.words.length)
    numbers.append(texts.words)
    release(texts.words)
    const answer = encodeNgrams({ ...texts, words: numbers }, wordsOf(words), rule, noBrake)
    port.postMessage(answer, [answer.bytes.buffer, answer.starts.buffer])
  })
  setImmediate(() => parentPort?.postMessage('loaded'))
}
