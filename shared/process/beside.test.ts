import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { RUNNING, runningLines, settingsBeside } from './beside.ts'

t.test('settings of a running system are found where there are no others', async t => {
  const dataDir = t.testdir()
  t.same(settingsBeside(dataDir, { PORT: '9' }), { PORT: '9' }, 'nothing runs')
  const running = {
    DATABASE_URL: 'postgres://a:b%27c@127.0.0.1:1/d?e=f&g=h',
    PORT: '8081',
    API_KEY: 'secret',
    HOST: '',
  }
  writeFileSync(join(dataDir, RUNNING), runningLines(running))
  const { DATABASE_URL, PORT } = running
  t.same(settingsBeside(dataDir, {}), { DATABASE_URL, PORT }, 'as they were, without what was not set or is secret')
  t.same(settingsBeside(dataDir, { PORT: '9', DATABASE_URL: ' ' }), { DATABASE_URL, PORT: '9' }, 'its own win')
  const other = { DATABASE_URL: 'postgres://other' }
  t.same(settingsBeside(dataDir, other), other, 'not mixed with another system')
})
