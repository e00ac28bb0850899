import t from 'tap'
import { proveScenario } from './prove.ts'
import { redis } from './redis.ts'

t.setTimeout(300_000)
proveScenario(redis, { limit: 290_000 })
