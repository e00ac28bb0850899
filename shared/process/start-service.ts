import { keepCompiled } from './node.ts'
import type { LoadService } from './service.ts'

/**
 * Opens the compile cache, and then loads and runs a service as `runService` does. The main file of
 * a service imports this file alone: what it imports is loaded before the cache is open.
 *
 * @param load imports what the service needs, and returns what starts it
 */
export async function startService(name: string, load: LoadService): Promise<void> {
  // Root changes to another account first. What that account can write to, root must not run.
  if (process.geteuid?.() !== 0) keepCompiled()
  const { runService } = await import('./service.ts')
  await runService(name, load)
}
