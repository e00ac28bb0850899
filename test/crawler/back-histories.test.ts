import t from 'tap'
import { tryLedgers } from './back-model.ts'

t.test('a ledger agrees with its pages, whoever works on it and is ended', t =>
  tryLedgers(t, { acts: ['hold', 'cut', 'lose', 'kill', 'murder'], runs: 3, limit: 15_000 }),
)
