import { placeOf } from '#search/analysis/index'
import type { TextGroups } from '#search/types'
import { type Pool, readRow } from '#shared/postgres/pool'

interface State {
  rules: number
  seq: number
  version: number
  /**
   * The last `version` that did more than add groups of later articles: it changed known groups.
   */
  changed: number
}

const STATE = `
  select rules, seq::float8 as seq, version::float8 as version, changed::float8 as changed from copies_state`

const ROWS = 50_000
// $1 after, $2 ROWS. Articles that joined a group. Index: copy_sketches_members.
const MEMBERS = `
  select seq::float8 as seq, first_seq::float8 as first from copy_sketches
   where first_seq <> seq and seq > $1 order by seq limit $2`

const NONE: TextGroups = { seqs: new Float64Array(), groups: new Uint32Array(), count: 0 }

/**
 * Keeps in memory which articles share their text with others: 12 bytes for each. Each call returns
 * the groups as they are at the time of the call.
 */
export function openTextGroups(pool: Pool): () => Promise<TextGroups> {
  let known: { state: State; groups: TextGroups } | null = null
  let reading: Promise<void> | null = null

  async function follow(): Promise<void> {
    const state = (await readRow<State>(pool, STATE))!
    if (known?.state.version === state.version && isLater(state, known.state)) return
    let groups = known !== null && isLater(state, known.state) ? known.groups : NONE
    for (let after = groups === NONE ? 0 : known!.state.seq, isLast = false; !isLast; ) {
      const { rows: members } = await pool.query<Member>(MEMBERS, [after, ROWS])
      // Rows of a later pass are left out. The next call reads them.
      groups = withMembers(
        groups,
        members.filter(({ seq }) => seq <= state.seq),
      )
      isLast = members.length < ROWS
      after = members.at(-1)?.seq ?? after
    }
    known = { state, groups }
  }

  return async () => {
    // A read that has already begun may see a state from before this call.
    if (reading !== null) await reading.catch(() => {})
    reading ??= follow().finally(() => {
      reading = null
    })
    await reading
    return known!.groups
  }
}

/** Whether the only difference is that groups of later articles were added. */
const isLater = (now: State, before: State) =>
  now.rules === before.rules &&
  now.changed === before.changed &&
  now.seq >= before.seq &&
  now.version >= before.version

interface Member {
  seq: number
  first: number
}

/**
 * @param members in order of `seq`, all later than the known ones. Their first articles may be
 *   earlier.
 */
function withMembers({ seqs, groups, count }: TextGroups, members: Member[]): TextGroups {
  if (members.length === 0) return { seqs, groups, count }
  const numbers = new Map<number, number>()
  const added: Member[] = []
  for (const { seq, first } of members) {
    if (!numbers.has(first)) {
      const place = placeOf(seqs, first)
      numbers.set(first, seqs[place] === first ? groups[place]! : count++)
      if (seqs[place] !== first) added.push({ seq: first, first })
    }
    added.push({ seq, first })
  }
  added.sort((a, b) => a.seq - b.seq)
  const merged = {
    seqs: new Float64Array(seqs.length + added.length),
    groups: new Uint32Array(seqs.length + added.length),
  }
  for (let at = 0, old = 0, next = 0; at < merged.seqs.length; at++) {
    const isOld = next === added.length || (old < seqs.length && seqs[old]! < added[next]!.seq)
    merged.seqs[at] = isOld ? seqs[old]! : added[next]!.seq
    merged.groups[at] = isOld ? groups[old++]! : numbers.get(added[next++]!.first)!
  }
  return { ...merged, count }
}
