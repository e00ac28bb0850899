import t from 'tap'
import { createTestDatabase } from '../database.ts'
import { createFleet, until } from '../fleet.ts'
import { articlePage, storePages } from '../normaliser/stored.ts'
import { startDoor } from '../queues/door.ts'

t.setTimeout(240_000)

t.test('services that start before Postgres wait for it, say so once, and then work', async t => {
  const database = await createTestDatabase()
  const door = await startDoor(database.url)
  const fleet = createFleet({ DATABASE_URL: door.url })
  t.teardown(async () => {
    await fleet.stop()
    await door.close()
    await database.drop()
  })
  await storePages(database, [
    { path: '/n/1', html: articlePage('Raad sluit brug', 'de brug'), title: 'Raad sluit brug' },
  ])
  for (const service of ['crawler', 'normaliser', 'embedder'] as const) await fleet.start(service)
  await until(() => fleet.members.every(({ log }) => log().includes('"level":"warn"')), 60_000)
  await new Promise(resolve => setTimeout(resolve, 4_000))
  for (const { service, process, log } of fleet.members) {
    t.equal(process.exitCode, null, `the ${service} waits`)
    t.ok(
      log().split('"level":"warn"').length <= 6,
      `${log().split('"level":"warn"').length - 1} lines of the ${service}`,
    )
  }
  door.open()
  await until(
    async () => (await database.query("select from pages where state = 'done'")).length === 1,
    60_000,
    () => fleet.members.map(({ log }) => log()).join('\n'),
  )
  await until(() => fleet.members.every(({ log }) => /"started"/.test(log())), 60_000)
  t.pass('all have started')
})
