import t from 'tap'
import { postgres } from './postgres.ts'
import { proveScenario } from './prove.ts'

t.setTimeout(600_000)
proveScenario(postgres, { limit: 590_000 })
