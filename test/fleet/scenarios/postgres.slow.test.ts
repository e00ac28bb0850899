import { postgres } from './postgres.ts'
import { proveScenario } from './prove.ts'

proveScenario(postgres)
