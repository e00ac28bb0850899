import t from 'tap'
import { ask } from '#test/contract/api'
import { freePort, startFleet, until } from '#test/fleet'

const KEY = 'a-key-for-operators-of-tests'

t.test(
  'an API whose Redis is away answers, shows all but the queues, and ends in time',
  async t => {
    const { fleet } = await startFleet(t, { REDIS_URL: `redis://127.0.0.1:${await freePort()}` })
    const api = await fleet.start('api', { OPERATOR_KEY: KEY })
    const { status, json } = await ask(`${fleet.base()}/status/figures`, KEY)
    t.equal(status, 200)
    t.strictSame(json.unread, ['queues'])
    t.equal(json.queues, null)
    t.equal(json.flow.articles, 0)
    t.equal((await ask(`${fleet.base()}/healthz`, null)).status, 200, 'still there')
    const shown = JSON.parse(await fleet.script('status', '--json'))
    t.match(
      shown,
      { queues: null, articles: 0, causes: [{ level: 'bad', text: /Redis/ }] },
      'the command, too',
    )
    api.process.kill('SIGTERM')
    t.equal(await api.exited, 0, 'it did not have to be ended')
  },
)

t.test('a crawler says that its Redis is away before it has a page', async t => {
  const { fleet } = await startFleet(t, { REDIS_URL: `redis://127.0.0.1:${await freePort()}` })
  const crawler = await fleet.start('crawler')
  await until(
    async () => crawler.log().includes('out of reach; start their Redis, or mend its address'),
    30_000,
    () => crawler.log(),
  )
  t.pass('within half a minute, before the look for causes')
})
