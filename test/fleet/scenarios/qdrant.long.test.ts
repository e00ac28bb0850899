import t from 'tap'
import { proveScenario } from './prove.ts'
import { qdrantLong } from './qdrant.ts'

t.setTimeout(900_000)
proveScenario(qdrantLong, { limit: 890_000 })
