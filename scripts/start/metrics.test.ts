import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { metricsOfStart } from '#scripts/start/services'
import { PORTS, RUNNING, runningLines } from '#shared/config/embedded'

t.test('metrics are those of the npm start that runs on the same folder and database', async t => {
  const dataDir = t.testdir()
  const url = 'postgres://perscope@127.0.0.1:1/perscope'
  const read = (databaseUrl: string) =>
    metricsOfStart({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl })
  t.strictSame(await read(url), {}, 'none runs')
  writeFileSync(
    join(dataDir, RUNNING),
    runningLines({ DATABASE_URL: url, METRICS_HOST: '0.0.0.0' }),
  )
  writeFileSync(
    join(dataDir, PORTS),
    JSON.stringify({ postgres: 20_001, crawler: 20_002, api: 20_003 }),
  )
  t.strictSame(await read(url), {
    crawler: 'http://127.0.0.1:20002/metrics',
    api: 'http://127.0.0.1:20003/metrics',
  })
  t.strictSame(
    await read('postgres://other@127.0.0.1:1/perscope'),
    {},
    'another database is another system',
  )
})
