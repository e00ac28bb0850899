import t from 'tap'
import { createTestDatabase } from '../database.ts'
import { createFleet, type ServiceName, until } from '../fleet.ts'
import { INSPECTOR_ON_ANY_PORT, spin } from '../spin.ts'

t.setTimeout(200_000)

const SERVICES: readonly ServiceName[] = ['crawler', 'normaliser', 'embedder', 'api']

t.test('every service whose event loop stands still ends itself and logs what it was busy with', async t => {
  const database = await createTestDatabase()
  const fleet = createFleet({
    DATABASE_URL: database.url,
    QDRANT_URL: process.env.QDRANT_URL ?? '',
    EMBEDDINGS_URL: process.env.EMBEDDINGS_URL ?? '',
    QDRANT_COLLECTION: `test_${process.pid}`,
    EVENT_LOOP_TIMEOUT: '5s',
    ...INSPECTOR_ON_ANY_PORT,
  })
  t.teardown(async () => {
    await fleet.stop()
    await database.drop()
  })
  for (const service of SERVICES) {
    const member = await fleet.start(service)
    await until(() => member.log().includes('"started"'), 60_000, member.log)
    await spin(member.process.pid ?? 0, member.log)
    await member.exited
    t.equal(member.process.signalCode, 'SIGKILL', service)
    const line =
      member
        .log()
        .split('\n')
        .find(line => line.includes('"fatal"')) ?? '{}'
    t.match(JSON.parse(line), { service, calls: [/^spin /], msg: /^the event loop stood still for 5 s in spin / })
  }
})
