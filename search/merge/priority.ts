import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/** From 0 to 19. At 10 a thread gets a tenth of a core that another one wants. */
const LOW_PRIORITY = 10

/**
 * Gives way to all other work, for good: only root may raise a priority again. On Linux a priority
 * belongs to a thread, and threads that it starts later inherit it. Elsewhere nothing happens.
 */
export function lowerPriority(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    if (getPriority(thread) < LOW_PRIORITY) setPriority(thread, LOW_PRIORITY)
  } catch {}
}
