import { proveScenario } from './prove.ts'
import { redis } from './redis.ts'

proveScenario(redis)
