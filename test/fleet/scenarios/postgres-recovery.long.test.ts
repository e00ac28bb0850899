import t from 'tap'
import { postgresRecovery } from './postgres-recovery.ts'
import { proveScenario } from './prove.ts'

t.setTimeout(900_000)
proveScenario(postgresRecovery, { limit: 890_000 })
