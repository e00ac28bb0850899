import { postgresRecovery } from './postgres-recovery.ts'
import { proveScenario } from './prove.ts'

proveScenario(postgresRecovery)
