import t from 'tap'
import { ask } from '../contract/api.ts'
import { freePort, startFleet } from '../fleet.ts'

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
