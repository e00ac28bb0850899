import t from 'tap'
import { sentenceOf } from '#shared/process/command'
import { createTestDatabase, createTestPool, inDatabase, withDatabase } from '#test/database'
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

t.test('an error of a server says what to do', async t => {
  const database = await createTestDatabase(t)
  const wrong = new URL(database.url)
  wrong.password = 'wrong'
  const addresses: [url: string, statement: string, expected: RegExp][] = [
    [database.url, 'select from no_table', /^The database lacks a table .*npm run migrate/],
    [inDatabase(database.url, 'nodb'), 'select 1', /^Postgres has no such database .*"nodb"/],
    [String(wrong), 'select 1', /^Postgres refuses our account .*mend DATABASE_URL/],
    ['postgres://a:b@no-such-host.invalid/x', 'select 1', /^There is no such host .*mend/],
  ]
  for (const [url, statement, expected] of addresses) {
    const failed = await withDatabase(url, db => db.query(statement)).catch(
      (error: unknown) => error,
    )
    t.match(sentenceOf(failed), expected)
  }
})
