import { keepCompiled } from '../../../shared/process/node.ts'

// Loads what an API process loads, and prints ms of processor time since its own start.
keepCompiled()
await import('../../../services/api/serve.ts')
const { user, system } = process.cpuUsage()
process.stdout.write(String((user + system) / 1_000))
// Node writes the cache on the way out.
process.exit()
