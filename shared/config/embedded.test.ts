import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { RUNNING, runningLines, settingsBeside, withEmbeddedKeys } from './embedded.ts'

t.test(
  'the key of an embedded server is found for its own address, and goes to no other',
  async t => {
    const dataDir = t.testdir()
    const keysOf = (env: NodeJS.ProcessEnv) => {
      const { QDRANT_API_KEY, EMBEDDINGS_API_KEY } = withEmbeddedKeys({ DATA_DIR: dataDir, ...env })
      return [QDRANT_API_KEY, EMBEDDINGS_API_KEY]
    }
    const own = {
      QDRANT_URL: 'http://127.0.0.1:20001',
      EMBEDDINGS_URL: 'http://127.0.0.1:20002/v1/embeddings',
    }
    t.same(keysOf(own), [undefined, undefined], 'no servers yet')

    writeFileSync(join(dataDir, 'ports.json'), '{"qdrant": 20001, "model": 20002}')
    writeFileSync(join(dataDir, 'qdrant.key'), 'one\n')
    writeFileSync(join(dataDir, 'model.key'), 'two\n')
    t.same(keysOf(own), ['one', 'two'])
    t.same(
      keysOf({ ...own, QDRANT_API_KEY: 'of another system' }),
      ['one', 'two'],
      'the only right ones',
    )
    const elsewhere = {
      QDRANT_URL: 'http://qdrant.example:20001',
      EMBEDDINGS_URL: 'https://127.0.0.1.example:20002/',
    }
    t.same(keysOf(elsewhere), [undefined, undefined])
    t.same(keysOf({ ...elsewhere, QDRANT_API_KEY: 'set' }), ['set', undefined], 'what is set stays')
    t.same(keysOf({ QDRANT_URL: 'http://127.0.0.1:20002', EMBEDDINGS_URL: 'nonsense' }), [
      undefined,
      undefined,
    ])
    writeFileSync(join(dataDir, 'ports.json'), '[')
    t.same(keysOf(own), [undefined, undefined], 'a damaged file')
  },
)

t.test('settings of a running system are found where there are no others', async t => {
  const dataDir = t.testdir()
  t.same(settingsBeside(dataDir, { PORT: '9', HOST: '' }), { PORT: '9', HOST: '' }, 'nothing runs')
  const database = 'postgres://a:b%27c@127.0.0.1:1/d?e=f&g=h'
  const found = { DATABASE_URL: database, PORT: '8081', QDRANT_API_KEY: 'of-qdrant' }
  const running = { ...found, API_KEY: 'secret', HOST: '' }
  writeFileSync(join(dataDir, RUNNING), runningLines(running))
  t.same(
    settingsBeside(dataDir, {}),
    found,
    'as they were, without what was not set or no service needs',
  )
  t.same(
    settingsBeside(dataDir, { PORT: '9', DATABASE_URL: ' ' }),
    { ...found, PORT: '9' },
    'its own win',
  )
  t.notMatch(
    runningLines(running),
    /['"]/,
    'docker and systemd take quotes for a part of the value',
  )
  const other = { DATABASE_URL: 'postgres://other' }
  t.same(settingsBeside(dataDir, other), other, 'not mixed with another system')
})
