import t from 'tap'
import { createTestPool } from '../test/database.ts'
import { byteaArray, textArray } from './binary-arrays.ts'

t.test('Postgres reads the texts and bytes that were written', async t => {
  const { pool } = await createTestPool(t)
  const lists = [
    [],
    [''],
    [null],
    ['a', null, 'é "\\{},\n', '日本 😀'],
    ['x'.repeat(100_000), 'NULL', ' '],
  ]
  for (const list of lists) {
    const { rows } = await pool.query<{ list: string[] }>('select $1::text[] as list', [
      textArray(list),
    ])
    t.same(rows[0]?.list, list)
    const bytes = list.map(text => text && Buffer.from(text))
    const encoded = await pool.query<{ list: string[] }>('select $1::text[] as list', [
      textArray(bytes),
    ])
    t.same(encoded.rows[0]?.list, list)
  }
  for (const list of [
    [],
    [Buffer.alloc(0)],
    [Buffer.from([0, 255, 92]), Buffer.alloc(70_000, 7)],
  ]) {
    const { rows } = await pool.query<{ list: Buffer[] }>('select $1::bytea[] as list', [
      byteaArray(list),
    ])
    t.same(rows[0]?.list, list)
  }
})
