import t from 'tap'
import { sentenceOf } from '../../shared/process/command.ts'
import { createTestPool } from '../../test/database.ts'
import { whileAway } from './while-away.ts'

t.test('a command that waits says whether Postgres is away or its disk is full', async t => {
  const { pool } = await createTestPool(t)
  for (const [code, expected] of [
    [
      '53100',
      /^Postgres cannot write, because its disk is full \(.*\): free some space.*; waiting/,
    ],
    ['57P01', /^Postgres is away; waiting for it, at most 2 minutes\.$/],
  ] as const) {
    const said: string[] = []
    const stopping = new AbortController()
    const say = (sentence: string) => {
      said.push(sentence)
      stopping.abort()
    }
    const fails = `do $$ begin raise exception 'no room' using errcode = '${code}'; end $$`
    const work = whileAway(() => pool.query(fails), { say, signal: stopping.signal })
    const error = await work.then(
      () => null,
      error => error,
    )
    t.match(said, [expected])
    t.match(error, { code })
    if (code === '53100') t.match(sentenceOf(error), /its disk is full \(.*no room.*\): free some/)
  }
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  t.match(sentenceOf(full), /^The disk is full \(ENOSPC: .*\): free some space there/)
})
