import { archive } from './archive.ts'
import { proveScenario } from './prove.ts'

proveScenario(archive, { loopback: true })
