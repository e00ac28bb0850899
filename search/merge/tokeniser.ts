import type { DocumentWords } from '../analysis/word-list.ts'

/** Cuts texts into words, perhaps in threads of the caller's. */
export interface Tokeniser {
  /** Calls at a time. */
  atOnce: number
  tokenise(texts: { title: string; body: string | null }[]): Promise<DocumentWords[]>
}

/** Runs some works, so many at a time, and returns their results in order. */
export async function* inOrder<T>(works: Iterable<() => Promise<T>>, atOnce: number): AsyncGenerator<T> {
  const running: Promise<T>[] = []
  for (const work of works) {
    const done = running.length === atOnce ? [await running.shift()!] : []
    const started = work()
    // The caller gets the error when its turn comes. Until then it must not count as unhandled.
    started.catch(() => {})
    running.push(started)
    yield* done
  }
  for (const one of running) yield await one
}
