import { postgresLong } from './postgres.ts'
import { proveScenario } from './prove.ts'

proveScenario(postgresLong)
