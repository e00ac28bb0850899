import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { createKey } from '#shared/plans/keys'
import { PLAN } from '#test/contract/api'
import { startFleet, until } from '#test/fleet'

/** ms, well above what makes a request slow. */
const LONG = 600

/** ms after which a busy machine, too, has let a request in and looks for new articles. */
const LET_IN = 5_000

t.test(
  'the line of a slow request is a warning, and names what the request waited for',
  async t => {
    const { database, fleet } = await startFleet(t, { WEB_CONCURRENCY: '1', SEARCH_TIMEOUT: '2m' })
    const client = new pg.Client(database.url)
    await client.connect()
    t.teardown(() => client.end())
    const api = await fleet.start('api')
    await until(async () => (await fetch(`${fleet.base()}/readyz`)).ok, 60_000)
    const { secret } = await createKey(client, 'test', PLAN)

    const file = join(t.testdir(), 'one.ndjson')
    const outlet = { name: 'De Dagkoerier', domain: 'dagkoerier.example' }
    const article = {
      url: 'https://dagkoerier.example/1',
      title: 'Een brug',
      body: 'De brug is open.',
      outlet,
    }
    writeFileSync(
      file,
      `${JSON.stringify({ ...article, language: 'nl', country: 'NL', published_at: null })}\n`,
    )
    const ask = (request: string) =>
      fetch(`${fleet.base()}/v1/articles`, {
        headers: { authorization: `Bearer ${secret}`, 'x-request-id': request },
      }).then(response => t.equal(response.status, 200))
    const lineOf = async (request: string) => {
      const written = () => api.log().split('\n').slice(0, -1)
      const isIts = (one: string) =>
        one.includes(`"request":"${request}"`) && one.includes('"msg":"request"')
      const line = () => written().find(isIts)
      await until(() => line() !== undefined, 60_000)
      return JSON.parse(line() ?? '')
    }
    const isWaiting = async () =>
      (await database.query("select from pg_stat_activity where wait_event_type = 'Lock'")).length >
      0

    // The first requests may well be slow: nothing is in memory yet, and the machine may be busy.
    let tries = 0
    await until(async () => {
      tries += 1
      await ask(`quick-${tries}`)
      return (await lineOf(`quick-${tries}`)).level === 'info'
    }, 60_000)
    t.notOk((await lineOf(`quick-${tries}`)).waited)

    // A process that is stopped reads nothing.
    api.process.kill('SIGSTOP')
    await fleet.script('import', file)
    await client.query('begin')
    await client.query('lock table articles in access exclusive mode')
    const answered = ask('locked')
    api.process.kill('SIGCONT')
    await until(isWaiting, 60_000)
    await pause(LET_IN)
    api.process.kill('SIGSTOP')
    await pause(LONG)
    api.process.kill('SIGCONT')
    await pause(LONG)
    await client.query('rollback')
    await answered
    const locked = await lineOf('locked')
    t.equal(locked.level, 'warn')
    const { 'new articles': articles = 0, held = 0 } = locked.waited ?? {}
    t.ok(
      articles >= 2 * LONG && articles <= locked.ms + 1,
      `${JSON.stringify(locked.waited)} of ${locked.ms}`,
    )
    t.ok(held >= LONG / 2 && held <= locked.ms, `held for ${held} ms`)
  },
)
