import t from 'tap'
import { proveScenario } from './prove.ts'
import { redisLong } from './redis.ts'

t.setTimeout(900_000)
proveScenario(redisLong, { limit: 890_000 })
