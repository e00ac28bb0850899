import t from 'tap'
import { postgresLong } from './postgres.ts'
import { proveScenario } from './prove.ts'

t.setTimeout(1_800_000)
proveScenario(postgresLong, { limit: 1_790_000 })
