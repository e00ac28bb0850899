import t from 'tap'
import { proveSiege } from './siege.ts'

t.test('100,000 connections: no 5xx, no hang, no growth of memory', t => proveSiege(t, 5, 20_000))
