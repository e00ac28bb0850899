import t from 'tap'
import { proveSiege } from './siege.ts'

const timeout = 3_600_000
t.setTimeout(timeout)

t.test('100,000 connections: no 5xx, no hang, no growth of memory', { timeout }, t => proveSiege(t, 5, 20_000))
