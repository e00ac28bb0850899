import t from 'tap'
import { openArchive } from '#search/archive/archive'
import { readArchiveHealth } from '#search/archive/writer'
import { openIndex } from '#search/index'
import { makeSegments } from '#search/indexer'
import { archiveSettingsOf } from '#shared/config/archive'
import { readConfig } from '#shared/config/config'
import { ask } from '#test/contract/api'
import { createRandom } from '#test/faults/random'
import { createFleet, freePort } from '#test/fleet'
import { openArchiveIndex } from '#test/search/archive-index'
import { EVERYTHING } from '#test/search/poller'
import { randomArticles } from '#test/search/random-articles'
import { startSecuredOpensearch } from './secured-opensearch.ts'

const KEY = 'a-key-for-operators-of-tests'

const { settings, otherAuthority, skip } = await startSecuredOpensearch(t)

t.test(
  'OpenSearch that takes TLS and a password alone, with a private authority',
  { skip },
  async t => {
    const index = await openArchiveIndex(t)
    await index.add(randomArticles(createRandom(11), 300))
    await makeSegments(index.pool, { flushed: 16n, merged: 64n })
    const env = {
      ...settings,
      DATABASE_URL: index.database.url,
      OPENSEARCH_RECENT: '50',
      OPENSEARCH_REPLICAS: '1',
    }

    await t.test('it is filled, answers searches, and tells its health', async t => {
      const fleet = createFleet(
        { ...env, EMBEDDINGS_URL: '', QDRANT_URL: '', OPERATOR_KEY: KEY, LOG_LEVEL: 'warn' },
        t,
      )
      const filled = JSON.parse(await fleet.script('reindex', '--archive', '--json'))
      t.same(filled, { what: 'archive', articles: 250, done: true })
      const search = openIndex(index.pool, {
        elsewhere: openArchive(index.pool, archiveSettingsOf(readConfig(env))),
      })
      t.teardown(() => search.close())
      const { total } = await search.search(EVERYTHING)
      t.same(search.stats().elsewhere, 250n)
      t.equal(total, (await index.search.search(EVERYTHING)).total, 'as many as segments find')

      // One node cannot have both copies of a shard.
      const health = { nodes: 1, active: 1, unassigned: 1 }
      const metrics = String(await freePort())
      await fleet.start('api', { METRICS_PORT: metrics })
      const { machines } = (await ask(`${fleet.base()}/status/figures`, KEY)).json
      t.same(machines.archiveIndex, { indices: 1, articles: 250, backlog: 0, health })
      const shown = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
      t.match(shown, /^perscope_archive_nodes\{service="api"\} 1$/m)
      t.match(shown, /^perscope_archive_copies_unassigned\{service="api"\} 1$/m)
      t.match(
        await fleet.script('status'),
        /archive index +250 articles in 1 index; 1 node 1 copy of shards; 1 copy/,
      )
    })

    await t.test(
      'another authority, another host or a wrong password is refused with a sentence',
      async t => {
        const refusal = async (changed: Record<string, string>) => {
          const set = archiveSettingsOf(readConfig({ ...env, ...changed }))
          return set && readArchiveHealth(set).then(() => 'it was let in', String)
        }
        t.match(
          await refusal({ TLS_CA_FILE: otherAuthority }),
          /authority that is not trusted.*TLS_CA_FILE/,
        )
        t.match(await refusal({ TLS_CA_FILE: '' }), /authority that is not trusted.*TLS_CA_FILE/)
        const OPENSEARCH_URL = settings.OPENSEARCH_URL.replace('127.0.0.1', 'localhost')
        t.match(await refusal({ OPENSEARCH_URL }), /not for the host localhost/)
        t.match(await refusal({ OPENSEARCH_PASSWORD: 'another' }), /OpenSearch answered 401/)
      },
    )
  },
)
