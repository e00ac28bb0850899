import { setTimeout as sleep } from 'node:timers/promises'
import { KINDS } from './kinds.ts'
import type { Planned } from './plan.ts'
import type { Scene } from './scene.ts'

/** A fault that was injected. Times in s. */
export interface DoneFault {
  /** From the beginning of the run. */
  at: number
  time: string
  kind: string
  detail: string
  /** Until what was hit answered again, or was let go on. */
  lasted: number
}

/**
 * Injects the planned faults at their times; they overlap as they fall. Resolves when the last is
 * over.
 */
export async function injectFaults(
  plan: readonly Planned[],
  scene: Scene,
  signal: AbortSignal,
  tell: (fault: DoneFault) => void,
): Promise<DoneFault[]> {
  const began = Date.now()
  const done: DoneFault[] = []
  const running: Promise<void>[] = []
  for (const { at, kind } of plan) {
    await sleep(Math.max(0, began + at - Date.now()), undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    running.push(inject(kind))
  }
  await Promise.all(running)
  return done

  async function inject(kind: Planned['kind']): Promise<void> {
    const from = Date.now()
    const fault = { at: (from - began) / 1000, time: new Date(from).toISOString(), kind }
    const detail = await KINDS[kind].inject(scene)
    const finished = { ...fault, detail, lasted: (Date.now() - from) / 1000 }
    done.push(finished)
    tell(finished)
  }
}
