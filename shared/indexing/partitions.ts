import { type Pool, transaction } from '../postgres/pool.ts'

/**
 * Articles in one partition: its indexes stay small enough for memory, and twenty years of news are
 * a dozen of them.
 */
export const PARTITION_SIZE = 4_194_304n

/** A new partition is made when the newest is this near to full. */
const AHEAD = 1_048_576n

// Any number. The process with this lock makes a partition; the others wait and find it.
const PARTITION_LOCK = 7_211_004_222n

/**
 * Makes sure that articles up to `lastSeq` and far beyond have a partition. A new table is
 * attached, because creating a partition in place would block searches. Returns the number up to
 * which partitions exist.
 */
export async function ensurePartitions(pool: Pool, lastSeq: bigint): Promise<bigint> {
  const needed = (lastSeq + AHEAD) / PARTITION_SIZE
  for (let number = lastSeq / PARTITION_SIZE; number <= needed; number++) {
    const name = `articles_p${number}`
    await transaction(pool, async client => {
      const { rows } = await client.query<{ present: boolean }>('select to_regclass($1) is not null as present', [name])
      if (rows[0]?.present === true) return
      await client.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK])
      await client.query(`create table if not exists ${name} (like articles including all, primary key (seq))`)
      await client.query(attachPartition(name, number * PARTITION_SIZE))
    })
  }
  return (needed + 1n) * PARTITION_SIZE
}

// Two processes may come here one after the other. The second finds the partition attached and does
// nothing.
const attachPartition = (name: string, from: bigint) => `
  do $$ begin
    if not exists (select from pg_inherits where inhrelid = '${name}'::regclass) then
      alter table articles attach partition ${name} for values from (${from}) to (${from + PARTITION_SIZE});
    end if;
  end $$`
