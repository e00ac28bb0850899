import { isMainThread } from 'node:worker_threads'
import iconv from 'iconv-lite'

/*
 * Loaded into a normaliser before its own code (`node --import`): in its threads, pages that hold
 * certain words meet a bug that never ends, or one that ends the thread.
 */
export const HANGS = 'poison-that-hangs'
export const CRASHES = 'poison-that-crashes'

if (!isMainThread) {
  const { decode } = iconv
  iconv.decode = (...given) => {
    const text = decode(...given)
    if (text.includes(CRASHES)) process.exit(3)
    if (text.includes(HANGS)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    return text
  }
}
