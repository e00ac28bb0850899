import parse, { type ParsedFeed, type ParseTask } from '#services/crawler/feeds/parsing/parse'
import { begin } from '#shared/threads/clock'
import type { Timed } from '#shared/threads/threads'

/**
 * A thread for tests: it does what the end of the document's address says, and parses all others.
 */
export default function misbehave(task: Timed<ParseTask>): ParsedFeed | null {
  begin(task.begun)
  switch (new URL(task.url).pathname) {
    case '/hang.xml':
      // composer.slow tries a thread that computes without an end, which looks the same from here.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      break
    case '/eat.xml': {
      const eaten: number[][] = []
      for (;;) eaten.push(Array.from({ length: 100_000 }, (_, at) => at + Math.random()))
    }
    case '/exit.xml':
      process.exit(3)
  }
  return parse(task)
}
