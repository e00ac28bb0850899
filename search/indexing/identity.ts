import { hash } from 'node:crypto'
import { foldName, NAME_RULES } from '../analysis/index.ts'
import { textArray } from '../binary-arrays.ts'
import { type Client, type Queryable, readColumn } from '../postgres.ts'
import { addressesOn, type OutletDomains, readDomains } from '../store/outlet-domains.ts'
import { AMONG_WRITERS, barAddresses, findBarred } from '../store/tombstones.ts'
import type { ArticleOutlet } from '../vocabulary.ts'
import type { NewArticle } from './new-article.ts'

/*
 * An article is known by its addresses, an author by name and outlet. Unique keys in Postgres
 * decide which process was first. So two processes can write the same article at the same time, and
 * only one article results.
 */

/**
 * The identity of an article by its addresses. The article is new under this id, or already known
 * under it.
 */
export interface Claim {
  id: string
  /** The article is not to be written: it is there already, or it was taken out. */
  known: boolean
  /** An operator has taken the article out. */
  removed: boolean
}

/** One article of a batch, with the addresses of all its entries in the batch. */
interface Claimant {
  outlet: string
  /** The article's own address comes first. */
  addresses: string[]
  id: string
  known: boolean
  removed: boolean
  /** Whether this call has claimed the id. */
  settled: boolean
}

/**
 * Claims the addresses and ids of some articles inside the caller's transaction (decision 37). It
 * inserts rows in sorted order, addresses before ids. So of two writers with the same articles, one
 * waits for the other here, before either takes the clock. An article that is known by any of its
 * addresses becomes known by all of them. When a batch has an article several times, only the first
 * is written.
 */
export async function claimIdentities(client: Client, articles: NewArticle[]): Promise<Claim[]> {
  await client.query(`select ${AMONG_WRITERS}`)
  const { claimants, claimantOf } = gather(articles, await domainsOf(client, articles))
  await claimAddresses(client, claimants)
  const barred = await noteRemoved(client, claimants)
  await barAddresses(
    client,
    barred.map(({ row }) => row),
    barred.map(({ seq }) => seq),
  )
  for (let salt = 0; claimants.some(one => !one.known && !one.settled); salt++)
    await claimIds(client, claimants, salt)
  return claimsOf(claimantOf)
}

/**
 * Looks up which articles are known, without claiming anything. A later claim may find more known
 * articles. This does not check whether another article already has one of the new ids.
 */
export async function findKnown(db: Queryable, articles: NewArticle[]): Promise<Claim[]> {
  const { claimants, claimantOf } = gather(articles, await domainsOf(db, articles))
  const rows = addressRows(claimants)
  const present = await db.query<AddressRow>(READ_ADDRESSES, columns(rows).slice(0, 2))
  noteKnown(claimants, new Map(present.rows.map(row => [keyOf(row), row.id])))
  await noteRemoved(db, claimants)
  return claimsOf(claimantOf)
}

/** When a batch has an article several times, all but the first count as known. */
function claimsOf(claimantOf: Claimant[]): Claim[] {
  const seen = new Set<Claimant>()
  return claimantOf.map(claimant => {
    const repeated = seen.has(claimant)
    seen.add(claimant)
    const { id, known, removed } = claimant
    return { id, known: known || repeated, removed }
  })
}

/**
 * Marks articles that have come again after an operator took them out.
 *
 * @returns all their addresses, with the number that the article had
 */
async function noteRemoved(
  db: Queryable,
  claimants: Claimant[],
): Promise<{ row: AddressRow; seq: bigint }[]> {
  const fresh = claimants.filter(one => !one.known)
  const owned = fresh.flatMap(one => addressRows([one]).map(row => ({ one, row })))
  const found = await findBarred(
    db,
    owned.map(({ row }) => row),
  )
  const seqs = new Map(
    owned.flatMap(({ one }, at) => (found[at] == null ? [] : [[one, found[at]]])),
  )
  for (const one of seqs.keys()) Object.assign(one, { known: true, removed: true })
  return owned.flatMap(({ one, row }) => {
    const seq = seqs.get(one)
    return seq === undefined ? [] : [{ row, seq }]
  })
}

function noteKnown(claimants: Claimant[], knownAs: ReadonlyMap<string, string>): void {
  for (const claimant of claimants) {
    const { outlet, addresses } = claimant
    const id = addresses
      .map(address => knownAs.get(keyOf({ outlet, address })))
      .find(found => found !== undefined)
    if (id !== undefined) Object.assign(claimant, { id, known: true })
  }
}

const domainsOf = (db: Queryable, articles: NewArticle[]) =>
  readDomains(
    db,
    articles.map(({ outlet }) => outletKey(outlet)),
  )

function gather(
  articles: NewArticle[],
  domainsOf: (outlet: string) => OutletDomains,
): { claimants: Claimant[]; claimantOf: Claimant[] } {
  const byAddress = new Map<string, Claimant>()
  const claimants: Claimant[] = []
  const claimantOf = articles.map(article => {
    const domains = domainsOf(outletKey(article.outlet))
    const outlet = domains.first
    const addresses = article.addresses.flatMap(address => addressesOn(domains, address))
    const [own] = addresses
    if (own === undefined)
      throw new TypeError(
        `an article without an address cannot be told from others: ${article.url}`,
      )
    const keys = addresses.map(address => `${outlet}\0${address}`)
    let claimant = keys.map(key => byAddress.get(key)).find(found => found !== undefined)
    if (claimant === undefined) {
      const id = article.id ?? articleId(outlet, own)
      claimant = { outlet, addresses: [], id, known: false, removed: false, settled: false }
      claimants.push(claimant)
    }
    for (const [index, key] of keys.entries()) {
      if (byAddress.has(key)) continue
      byAddress.set(key, claimant)
      claimant.addresses.push(addresses[index]!)
    }
    return claimant
  })
  return { claimants, claimantOf }
}

async function claimAddresses(client: Client, claimants: Claimant[]): Promise<void> {
  const rows = addressRows(claimants)
  const added = await client.query<AddressRow>({
    name: 'add-addresses',
    text: ADD_ADDRESSES,
    values: columns(rows),
  })
  if (added.rows.length === rows.length) return
  const present = await client.query<AddressRow>(READ_ADDRESSES, columns(rows).slice(0, 2))
  const isAdded = new Set(added.rows.map(keyOf))
  const knownAs = new Map(
    present.rows.filter(row => !isAdded.has(keyOf(row))).map(row => [keyOf(row), row.id]),
  )
  noteKnown(claimants, knownAs)
  // `ADD_ADDRESSES` stored new aliases of known articles under new ids. They move to the ids of the
  // known articles.
  const moved = addressRows(claimants.filter(one => one.known)).filter(row =>
    isAdded.has(keyOf(row)),
  )
  if (moved.length > 0) await client.query(MOVE_ADDRESSES, columns(moved))
}

/**
 * Claims ids for new articles. When another article has an id, the new article gets a derived one.
 */
async function claimIds(client: Client, claimants: Claimant[], salt: number): Promise<void> {
  const open = claimants.filter(one => !one.known && !one.settled)
  const values = [textArray(open.map(one => one.id))]
  const free = new Set(await readColumn<string>(client, { name: 'add-ids', text: ADD_IDS, values }))
  const moved: Claimant[] = []
  for (const claimant of open) {
    claimant.settled = free.delete(claimant.id)
    if (claimant.settled) continue
    claimant.id = articleId(claimant.outlet, claimant.addresses[0]!, salt)
    moved.push(claimant)
  }
  if (moved.length > 0) await client.query(MOVE_ADDRESSES, columns(addressRows(moved)))
}

interface AddressRow {
  outlet: string
  address: string
  id: string
}

const keyOf = ({ outlet, address }: Omit<AddressRow, 'id'>) => `${outlet}\0${address}`

function addressRows(claimants: Claimant[]): AddressRow[] {
  return claimants.flatMap(({ outlet, addresses, id }) =>
    addresses.map(address => ({ outlet, address, id })),
  )
}

const columns = (rows: AddressRow[]) => columnsOf(rows, ['outlet', 'address', 'id'])

function columnsOf<K extends string>(rows: Record<K, string | null>[], keys: K[]): Buffer[] {
  return keys.map(key => textArray(rows.map(row => row[key])))
}

// $1 outlets, $2 addresses, $3 ids
const ADD_ADDRESSES = `
  insert into article_addresses (outlet, address, id)
  select a.* from unnest($1::text[], $2::text[], $3::text[]) as a (outlet, address, id)
  order by outlet collate "C", address collate "C"
  on conflict do nothing
  returning outlet, address, id`

// $1 outlets, $2 addresses
const READ_ADDRESSES = `
  select a.outlet, a.address, a.id
  from unnest($1::text[], $2::text[]) as w (outlet, address)
  join article_addresses a on a.outlet = w.outlet collate "C" and a.address = w.address collate "C"`

// $1 outlets, $2 addresses, $3 ids
const MOVE_ADDRESSES = `
  update article_addresses a set id = m.id
  from unnest($1::text[], $2::text[], $3::text[]) as m (outlet, address, id)
  where a.outlet = m.outlet collate "C" and a.address = m.address collate "C"`

// $1 ids
const ADD_IDS = `
  insert into article_ids (id)
  select distinct id collate "C" from unnest($1::text[]) as a (id) order by 1
  on conflict do nothing
  returning id`

/** The identity of an outlet: its domain, or its name if an import gives no domain. */
export function outletKey(outlet: ArticleOutlet): string {
  if (outlet.domain !== null) return outlet.domain.toLowerCase()
  return `name:${(outlet.name ?? '').normalize('NFC').trim().toLowerCase()}`
}

/**
 * The public id of an article, derived from its outlet and its first address. `salt` gives another
 * id in the rare case that another article has the first.
 */
function articleId(outlet: string, address: string, salt = 0): string {
  return digest('a', outlet, address, salt === 0 ? '' : String(salt))
}

/** The public id of an author: the same for the same name at the same outlet (decision 35). */
export function authorId(outlet: string, name: string): string {
  return digest('p', outlet, name.normalize('NFC'), '')
}

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Makes an id of 24 characters in Crockford's base 32 (120 bits). It needs no escaping in an
 * address, and no two ids differ only in the case of their letters.
 */
function digest(kind: string, ...parts: string[]): string {
  const bytes = hash('sha256', [kind, ...parts].join('\0'), 'buffer')
  let text = ''
  let held = 0
  let bits = 0
  for (let at = 0; at < 15; at++) {
    held = (held << 8) | bytes[at]!
    for (bits += 8; bits >= 5; ) {
      bits -= 5
      text += DIGITS[(held >>> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return text
}

/** Gives the numbers of an article's outlet and authors, by which its row refers to them. */
export type NamesOf = (article: NewArticle) => { publisherNo: number; authorNos: number[] }

/**
 * Finds or adds the outlets and authors of some articles. Runs before the transaction that makes
 * the articles visible. If that transaction fails, unused names remain, and they do no harm. The
 * transaction asks again, because after a failover the numbers may belong to other names.
 */
export async function registerNames(db: Queryable, articles: NewArticle[]): Promise<NamesOf> {
  const publishers = new Map<string, PublisherRow>()
  const authors = new Map<string, AuthorRow>()
  for (const { outlet, authors: names } of articles) {
    const key = outletKey(outlet)
    if (!publishers.has(publisherKey(key, outlet.name)))
      publishers.set(publisherKey(key, outlet.name), {
        outlet: key,
        name: outlet.name,
        domain: outlet.domain,
        folded_name: foldName(outlet.name ?? ''),
        folded_domain: foldName(outlet.domain ?? ''),
      })
    for (const name of names) {
      const row = authorRow(key, name)
      if (!authors.has(row.id)) authors.set(row.id, row)
    }
  }
  const publisherNos = await addUntilAllAreThere(publishers, async rows => {
    const found = await db.query<{ outlet: string; name: string | null; no: number }>({
      name: 'add-publishers',
      text: ADD_PUBLISHERS,
      values: columnsOf(rows, ['outlet', 'name', 'domain', 'folded_name', 'folded_domain']),
    })
    return found.rows.map(row => [publisherKey(row.outlet, row.name), row.no])
  })
  const authorNos = await addUntilAllAreThere(authors, async rows => {
    const found = await db.query<{ id: string; no: number }>({
      name: 'add-authors',
      text: ADD_AUTHORS,
      values: columnsOf(rows, ['id', 'outlet', 'name', 'folded_name']),
    })
    return found.rows.map(row => [row.id, row.no])
  })
  return ({ outlet, authors: names }) => {
    const key = outletKey(outlet)
    return {
      publisherNo: publisherNos.get(publisherKey(key, outlet.name))!,
      authorNos: [...new Set(names.map(name => authorNos.get(authorRow(key, name).id)!))],
    }
  }
}

interface PublisherRow {
  outlet: string
  name: string | null
  domain: string | null
  folded_name: string
  folded_domain: string
}

interface AuthorRow {
  id: string
  outlet: string
  name: string
  folded_name: string
}

/** How many rows of authors are remembered. Names come again and again. */
const REMEMBERED = 20_000
const authorRows = new Map<string, AuthorRow>()

function authorRow(outlet: string, name: string): AuthorRow {
  const key = `${outlet}\0${name}`
  const known = authorRows.get(key)
  if (known !== undefined) return known
  const row = { id: authorId(outlet, name), outlet, name, folded_name: foldName(name) }
  if (authorRows.size >= REMEMBERED) authorRows.clear()
  authorRows.set(key, row)
  return row
}

const publisherKey = (outlet: string, name: string | null) =>
  name === null ? outlet : `${outlet}\0${name}`

/**
 * Adds rows until all exist. A row that another process adds at the same moment is neither ours nor
 * visible yet, so the loop asks again. Names are sorted, so that two processes with the same names
 * never wait for each other.
 */
async function addUntilAllAreThere<T>(
  wanted: Map<string, T>,
  add: (rows: T[]) => Promise<[string, number][]>,
) {
  const found = new Map<string, number>()
  for (let attempt = 0; found.size < wanted.size; attempt++) {
    if (attempt === 10)
      throw new Error(
        'Names of outlets or authors could not be added; the database drops what it accepts.',
      )
    const missing = [...wanted]
      .filter(([key]) => !found.has(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [key, no] of await add(missing.map(([, row]) => row))) found.set(key, no)
  }
  return found
}

// $1 outlets, $2 names, $3 domains, $4 folded names, $5 folded domains. The insert leaves out known
// rows, because each attempt to insert one would use up a number.
const ADD_PUBLISHERS = `
  with wanted as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
      as w (outlet, name, domain, folded_name, folded_domain)
  ), known as (
    select p.outlet, p.name, p.publisher_no
    from wanted w join publishers p on p.outlet = w.outlet collate "C" and p.name is not distinct from w.name
  ), added as (
    insert into publishers (outlet, name, domain, folded_name, folded_domain, rules)
    select w.*, ${NAME_RULES} from wanted w
    where not exists (select from known k where k.outlet = w.outlet collate "C" and k.name is not distinct from w.name)
    on conflict do nothing
    returning outlet, name, publisher_no
  )
  select outlet, name, publisher_no as no from known
  union all
  select outlet, name, publisher_no from added`

// $1 ids, $2 outlets, $3 names, $4 folded names
const ADD_AUTHORS = `
  with wanted as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as w (id, outlet, name, folded_name)
  ), known as (
    select a.id, a.author_no from wanted w join authors a on a.id = w.id collate "C"
  ), added as (
    insert into authors (id, outlet, name, folded_name, rules)
    select w.*, ${NAME_RULES} from wanted w where not exists (select from known k where k.id = w.id collate "C")
    on conflict do nothing
    returning id, author_no
  )
  select id, author_no as no from known
  union all
  select id, author_no from added`
