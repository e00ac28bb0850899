import { SNIPPET_RULES, WORD_RULES } from '#search/analysis/index'
import { type Queryable, readValue } from '#shared/postgres/pool'
import { ADDRESS_RULES } from './address.ts'

/**
 * The versions of the rules by which data is derived from articles and stored, as `derived_rules`
 * notes them. A start and `npm run migrate` renew what other versions have derived
 * (`scripts/reindex/renew.ts`). Other data bears its version itself: names, agencies, groups of
 * copies, indices of the archive, collections of vectors, citations. Ids of authors and articles
 * have none, because visible ids never change. `test/search/rules.test.ts` holds what each
 * version derives.
 */
export const RULES = {
  words: WORD_RULES,
  addresses: ADDRESS_RULES,
  snippets: SNIPPET_RULES,
} as const satisfies Record<string, number>

export type Derived = keyof typeof RULES

/** The version that derived the stored data; null: a version that noted none. */
export const readRules = (db: Queryable, name: Derived): Promise<number | null> =>
  readValue<number>(db, 'select rules from derived_rules where name = $1', [name])

/** Notes that all stored data of this name is of the present rules. */
export async function noteRules(db: Queryable, name: Derived): Promise<void> {
  await db.query(
    `insert into derived_rules (name, rules) values ($1, $2) on conflict (name) do update set rules = excluded.rules`,
    [name, RULES[name]],
  )
}

// $1 names, $2 their rules. A renewal that has begun has a row of `reindex_runs`.
const OTHERS = `
  select w.name, d.rules as stored, w.rules, last_seq as last,
         (select done_to from reindex_runs where selection::jsonb ->> 'what' = w.name and selection::jsonb ? 'renews') as done
    from unnest($1::text[], $2::int[]) as w (name, rules) left join derived_rules d using (name), ingest_clock
   where d.rules is distinct from w.rules order by name`

interface Other {
  name: Derived
  stored: number | null
  rules: number
  last: bigint
  done: bigint | null
}

/** Says what is of other rules than those of this version, and how far its renewal is. */
export async function glanceAtRules(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<Other>(OTHERS, [Object.keys(RULES), Object.values(RULES)])
  return rows.map(({ name, stored, rules, last, done }) => {
    if (done !== null)
      return `${name} of a former version are being renewed, up to article ${done} of ${last}`
    const made = stored === null ? 'a former version' : `the rules ${stored}`
    return `${name} are of ${made}, and this version has the rules ${rules}`
  })
}
