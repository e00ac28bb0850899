import { proveScenario } from './prove.ts'
import { qdrant } from './qdrant.ts'

proveScenario(qdrant)
