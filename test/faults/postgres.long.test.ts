import t from 'tap'
import { proveChaos } from './prove.ts'

// The goal: ten minutes and sixty faults.
const verdict = await proveChaos({ seconds: 600, seed: 9, redis: false, rate: 2, imported: 3800 })
t.ok(verdict.faults.length >= 60, `${verdict.faults.length} faults`)
