import { setTimeout as sleep } from 'node:timers/promises'
import type { Composition } from '#services/normaliser/compose'
import type { ComposeTask } from '#services/normaliser/composer-worker'
import { NO_RIGHTS_STATED } from '#shared/outlets/rights'
import { begin } from '#shared/threads/clock'
import type { Timed } from '#shared/threads/threads'

await sleep(2_500)

/**
 * A thread for tests: it takes long to load what it needs, as on a machine that is busy with other
 * things.
 */
export default async function slowStart({ begun }: Timed<ComposeTask>): Promise<Composition> {
  begin(begun)
  return {
    kind: 'refused',
    reason: 'language',
    detail: 'slow',
    interstitial: null,
    rights: NO_RIGHTS_STATED,
  }
}
