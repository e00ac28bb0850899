import { openIndexer, renewNames } from '#search/indexer'
import { AMONG_WRITERS } from '#search/removals'
import type { OutletAddress } from '#search/types'
import { addressKey } from '#shared/articles/address'
import { type Derived, noteRules, RULES, readRules } from '#shared/articles/rules'
import { columnsOf, type Pool, readColumn, transaction } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { reindexSnippets } from './fields.ts'
import { beginRun, endRun, findRun, inParts, type Work } from './run.ts'
import { openTokeniser } from './words.ts'

/*
 * Brings what former versions folded, hashed or cut to the rules of this version. A start and
 * `migrate` do this, so that searches find old articles as they find new ones. Old processes may
 * run meanwhile. What was interrupted goes on at the next call.
 */

/**
 * Renews names and keys of addresses, before services of this version begin: with former keys they
 * would take a known article for a new one.
 */
export async function renewKeys(pool: Pool, signal: AbortSignal): Promise<void> {
  await renewNames(pool, signal)
  await renew(pool, 'addresses', signal, renewAddresses)
}

/**
 * Renews snippets and words, which may take long, and beside which services may run. If words have
 * other numbered rules, this does nothing for them: `verify` and `doctor` ask for `reindex`.
 */
export async function renewTexts(pool: Pool, signal: AbortSignal): Promise<void> {
  await renew(pool, 'snippets', signal, throughAll('snippets', reindexSnippets))
  if ((await readRules(pool, 'words')) === null)
    await renew(pool, 'words', signal, throughAll('words', renewFirstWords))
}

/**
 * Does nothing where this version or a newer one has derived all of them.
 *
 * @param work returns whether it is complete
 */
async function renew(
  pool: Pool,
  name: Derived,
  signal: AbortSignal,
  work: (pool: Pool, signal: AbortSignal) => Promise<boolean>,
): Promise<void> {
  const stored = await readRules(pool, name)
  if (stored !== null && stored >= RULES[name]) return
  if (await work(pool, signal)) await noteRules(pool, name)
}

/** Works through all articles, and remembers how far. */
const throughAll =
  (what: 'words' | 'snippets', work: (work: Work) => Promise<boolean>) =>
  async (pool: Pool, signal: AbortSignal): Promise<boolean> => {
    const all = { what, outlet: null, language: null, from: null, to: null, renews: RULES[what] }
    const run = (await findRun(pool, all)) ?? (await beginRun(pool, all))
    const chosen = { selection: all, publisherNos: null }
    const quietly = { limit: () => Promise.resolve(), tell() {}, say() {} }
    const done = await work({ pool, chosen, run, signal, ...quietly })
    if (done) await endRun(pool, all)
    return done
  }

/** Keys of addresses that are read at a time. */
const KEYS = 10_000

// $1 $2 the key after which they come, $3 KEYS. Index: the primary key.
const NEXT_KEYS = `
  select outlet, address from article_addresses where (outlet, address) > ($1 collate "C", $2 collate "C")
   order by outlet, address limit $3`

// An article that was taken out meanwhile has no key any more. $1 outlets, $2 keys, $3 new keys.
// Index: the primary key.
const ADD_KEYS = `
  insert into article_addresses (outlet, address, id)
  select distinct on (1, 2) a.outlet, n.fresh collate "C", a.id
    from unnest($1::text[], $2::text[], $3::text[]) as n (outlet, address, fresh)
    join article_addresses a on a.outlet = n.outlet collate "C" and a.address = n.address collate "C"
   order by 1, 2
  on conflict do nothing`

/**
 * Adds the keys that addresses have now. The former ones stay. Of two articles that get one key,
 * the first one has it.
 */
async function renewAddresses(pool: Pool, signal: AbortSignal): Promise<boolean> {
  let last: OutletAddress | undefined = { outlet: '', address: '' }
  while (last !== undefined) {
    if (signal.aborted) return false
    const { rows }: { rows: OutletAddress[] } = await pool.query<OutletAddress>(NEXT_KEYS, [
      last.outlet,
      last.address,
      KEYS,
    ])
    const changed = rows
      .map(row => ({ ...row, fresh: addressKey(`https://${row.address}`) }))
      .filter(({ address, fresh }) => address !== fresh)
    if (changed.length > 0)
      await transaction(pool, async client => {
        await client.query(`select ${AMONG_WRITERS}`)
        await client.query(ADD_KEYS, columnsOf(changed, 'outlet', 'address', 'fresh'))
      })
    last = rows.at(-1)
  }
  return true
}

/**
 * Words that the first rules of version 1 cut otherwise: those around U+02BC, and around U+0149,
 * which holds it (decision 44). $1 $2 first and last number. Index: the primary key.
 */
const CHANGED = `
  select seq from article_texts
   where seq between $1 and $2 and (title ~ '[\u02bc\u0149]' or body ~ '[\u02bc\u0149]') order by seq`

/** Articles whose texts are looked at between two notes of how far it is. */
const TEXTS = 10_000

async function renewFirstWords(work: Work): Promise<boolean> {
  const tokeniser = openTokeniser()
  const { rebuild } = openIndexer(work.pool, SEGMENT_THREAD)
  try {
    return await inParts(work, TEXTS, async seqs => {
      let left = await readColumn<bigint>(work.pool, CHANGED, [seqs[0] ?? 0, seqs.at(-1) ?? 0])
      while (left.length > 0) {
        const done = await rebuild.exclusively(async () => {
          const ranges = await rebuild.ranges()
          const range = ranges.find(({ first, last }) => first <= left[0]! && left[0]! <= last)
          const some = left.filter(seq =>
            range === undefined
              ? !ranges.some(({ first, last }) => first <= seq && seq <= last)
              : seq <= range.last,
          )
          const { signal } = work
          if (range === undefined) await rebuild.words(some, tokeniser)
          else
            await rebuild.segment(range, { tokeniser, chosen: new Set(some), ...QUIETLY, signal })
          return some
        })
        if (work.signal.aborted) return false
        left = left.filter(seq => !done.includes(seq))
      }
      return true
    })
  } finally {
    await tokeniser.close()
  }
}

const QUIETLY = { worked: () => Promise.resolve(), within: () => Promise.resolve() }
