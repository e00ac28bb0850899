import { proveScenario } from './prove.ts'
import { redisLong } from './redis.ts'

proveScenario(redisLong)
