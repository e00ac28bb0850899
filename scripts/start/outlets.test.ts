import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { syncOutlets } from '#scripts/outlets/sync'
import { createTestPool } from '#test/database'
import { loadOutlets } from './services.ts'

const { pool } = await createTestPool(t)

const outlet = (domain: string) => ({
  name: domain,
  domain,
  country: 'NL' as const,
  languages: ['nl' as const],
  timeZone: 'Europe/Amsterdam',
  feeds: [`https://${domain}/feed.xml`],
  sitemaps: [],
})

t.test(
  'a start keeps outlets that were added by hand, and says so; its own leave with the catalogue',
  async t => {
    const dataDir = t.testdir()
    const file = join(dataDir, 'outlets.json')
    const start = async (...domains: string[]) => {
      await writeFile(file, JSON.stringify({ outlets: domains.map(outlet) }))
      const said: string[] = []
      await loadOutlets({ pool, file, dataDir, report: sentence => said.push(sentence) })
      const { rows } = await pool.query<{ domain: string }>(
        'select domain from outlets where active order by domain',
      )
      return { said: said.join('\n'), active: rows.map(({ domain }) => domain) }
    }
    t.strictSame(await start('a.example', 'b.example'), {
      said: '',
      active: ['a.example', 'b.example'],
    })
    await syncOutlets(pool, [outlet('own.example')], { remove: [] })
    const again = await start('a.example', 'b.example')
    t.strictSame(again.active, ['a.example', 'b.example', 'own.example'])
    t.match(again.said, /^Outlets outside the catalogue are crawled too: own\.example\./)
    const other = await start('a.example', 'c.example')
    t.strictSame(other.active, ['a.example', 'c.example', 'own.example'])
    t.match(other.said, /No longer crawled, because the catalogue does not name them: b\.example\./)
  },
)
