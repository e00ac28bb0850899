import { postgresLong } from './postgres.ts'
import { proveScenario } from './prove.ts'

proveScenario(postgresLong, { limit: 1_790_000 })
