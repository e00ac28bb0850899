import { keepCompiled } from './node.ts'
import type { LoadService } from './service.ts'

/**
 * Opens the compile cache, and then loads and runs a service as `runService` does. The main file of
 * a service imports this file alone. Whatever else it imported would be loaded before the cache is
 * open, and compiled at each start.
 *
 * @param load imports what the service needs, and returns what starts it
 */
export async function startService(name: string, load: LoadService): Promise<void> {
  // Root changes to another account first. What that account can write to, root must not run.
  if (process.geteuid?.() !== 0) keepCompiled()
  const { runService } = await import('./service.ts')
  await runService(name, load)
}
