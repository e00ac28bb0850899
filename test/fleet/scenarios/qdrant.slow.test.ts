import t from 'tap'
import { proveScenario } from './prove.ts'
import { qdrant } from './qdrant.ts'

t.setTimeout(300_000)
proveScenario(qdrant, { limit: 290_000 })
