import { archive } from './archive.ts'
import { proveScenario } from './prove.ts'

proveScenario(archive, { limit: 1_500_000, loopback: true })
