import { keepCompiled } from './node.ts'
import type { LoadService } from './service.ts'

/**
 * Runs a service as `runService` does. Everything else is loaded afterwards, so that its code comes
 * from the compile cache. The files of services name this one alone, because what they import is
 * loaded before the cache is open.
 *
 * @param load imports what the service needs, and returns what starts it
 */
export async function startService(name: string, load: LoadService): Promise<void> {
  // Root changes to another account first. What that account can write to, root must not run.
  if (process.geteuid?.() !== 0) keepCompiled()
  const { runService } = await import('./service.ts')
  await runService(name, load)
}
