import { keepCompiled } from './node.ts'
import type { LoadService } from './service.ts'

/**
 * Opens the compile cache, and then loads and runs a service as `runService` does. The main file of
 * a service imports only this file. Other imports would be loaded before the cache is open, and so
 * be compiled at each start.
 *
 * @param load imports the modules of the service, and returns the function that starts it
 */
export async function startService(name: string, load: LoadService): Promise<void> {
  keepCompiled()
  const { runService } = await import('./service.ts')
  await runService(name, load)
}
