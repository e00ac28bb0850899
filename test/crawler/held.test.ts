import t from 'tap'
import { outletHealth } from '#status/health'
import { runScript } from '#test/script'
import { html, rss, startScene } from './crawl.ts'

const { run, site } = await startScene(t, ['127.0.0.1'])

/** Public addresses. Nothing is sent there. */
const WEB = 'http://192.0.32.8'
const ELSEWHERE = 'http://192.0.32.9'

t.test(
  'without a CRAWL_USER_AGENT of one’s own the web is not asked, and opened ranges are',
  async t => {
    site.on('/feed.xml', rss(`${site.origin}/a`, `${ELSEWHERE}/b`))
    site.on('/a', html('a'))
    await run.outlets({
      'a.example': [`${site.origin}/feed.xml`],
      'b.example': [`${WEB}/feed.xml`],
    })
    await run.workOff(4_000, async () => (await run.page(`${ELSEWHERE}/b`))?.reason === 'held')
    t.match(await run.page(`${site.origin}/a`), { state: 'stored' })
    const held = await run.page(`${ELSEWHERE}/b`)
    t.match(held, { state: 'waiting', reason: 'held', attempts: 0 })
    t.ok(held && held.wait > 0 && held.wait <= 60_000, 'looked at again in a minute')
    const error = /^held: CRAWL_USER_AGENT is not set; set it to a name, an address and a contact/
    t.match(await run.feed('192.0.32.8/feed.xml'), { failures: 0, error })
    const [, other] = await outletHealth(run.pool)
    t.match(other, { health: 'healthy', error: /^held:/ })
    const { DATABASE_URL } = run.crawl.config
    const { out } = await runScript('status', [], {
      DATABASE_URL,
      QDRANT_URL: '',
      OPENSEARCH_URL: '',
    })
    t.match(out, /1 outlet: held: CRAWL_USER_AGENT is not set/)
  },
)
