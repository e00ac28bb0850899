import t from 'tap'
import { migrationFiles } from '../../infra/migrations/migrate.ts'
import { SCHEMA } from '../../shared/postgres/pool.ts'

t.test('connections bear the number of the newest migration', async t => {
  t.equal(SCHEMA, Number((await migrationFiles()).at(-1)?.slice(0, 4)))
})
