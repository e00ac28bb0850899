import t from 'tap'
import { createTestDatabase } from '#test/database'
import { createFleet, until } from '#test/fleet'
import { openLinkTo } from '#test/fleet/links/link'
import { articlePage, storePages } from '#test/normaliser/stored'

t.test('services that start before Postgres wait for it, say so once, and then work', async t => {
  const database = await createTestDatabase(t)
  const door = await openLinkTo(database.url)
  door.break()
  t.teardown(() => door.close())
  const fleet = createFleet({ DATABASE_URL: door.url }, t)
  await storePages(database, [
    { path: '/n/1', html: articlePage('Raad sluit brug', 'de brug'), title: 'Raad sluit brug' },
  ])
  for (const service of ['crawler', 'normaliser', 'embedder'] as const) await fleet.start(service)
  const api = fleet.start('api', { WEB_CONCURRENCY: '2' })
  // The API may first warn of something else, as of a busy machine.
  const waits = () =>
    fleet.members.every(({ service, log }) =>
      log().includes(service === 'api' ? 'Waiting.' : '"level":"warn"'),
    )
  await until(() => fleet.members.length === 4 && waits(), 60_000)
  await new Promise(resolve => setTimeout(resolve, 4_000))
  for (const { service, process, log } of fleet.members) {
    t.equal(process.exitCode, null, `the ${service} waits`)
    const lines = log().split('"level":"warn"').length - 1
    t.ok(lines <= 5, `${lines} lines of the ${service}`)
  }
  door.mend()
  await until(
    async () => (await database.count("pages where state = 'done'")) === 1,
    60_000,
    fleet.logs,
  )
  await until(() => fleet.members.every(({ log }) => /"started"/.test(log())), 60_000)
  t.equal((await api).log().match(/Waiting\./g)?.length, 1, 'one of several processes says it')
})
