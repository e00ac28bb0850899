import { setTimeout as sleep } from 'node:timers/promises'
import type { Composition } from '#services/normaliser/compose'
import type { ComposeTask } from '#services/normaliser/composer-worker'
import { NO_RIGHTS_STATED } from '#shared/outlets/rights'
import { begin } from '#shared/threads/clock'
import type { Timed } from '#shared/threads/threads'

/** A thread for tests: it does what the page's address says, in place of composing. */
export default async function misbehave({
  page,
  now,
  begun,
}: Timed<ComposeTask>): Promise<Composition> {
  begin(begun)
  switch (page.url) {
    case 'hang':
      for (;;) Math.random()
    case 'sleep':
      await sleep(800)
      break
    case 'eat': {
      const eaten: number[][] = []
      for (;;) eaten.push(Array.from({ length: 100_000 }, (_, at) => at + Math.random()))
    }
    case 'throw':
      throw new TypeError('cannot read that\nand more')
    case 'exit':
      process.exit(3)
  }
  return {
    kind: 'refused',
    reason: 'language',
    detail: `${page.url} at ${now.getTime() > 0}`,
    interstitial: null,
    rights: NO_RIGHTS_STATED,
  }
}
