import { createPool } from '#shared/postgres/pool'

/*
 * A program for a host that will be lost: it holds an advisory lock, as a process that merges
 * segments does, until its end. Arguments: the database, the number of the lock.
 */
const [url = '', lock = ''] = process.argv.slice(2)
const pool = createPool(url, 'lock', () => {}, { max: 1 })
const client = await pool.connect()
client.on('error', () => process.exit(1))
await client.query('select pg_advisory_lock($1)', [lock])
setInterval(() => {}, 60_000)
