import { proveScenario } from './prove.ts'
import { qdrantLong } from './qdrant.ts'

proveScenario(qdrantLong)
