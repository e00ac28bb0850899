import { textArray } from '../../shared/postgres/binary-arrays.ts'
import type { Queryable } from '../../shared/postgres/pool.ts'
import { foldName } from '../analysis/index.ts'
import type { NewArticle } from './article.ts'
import { authorId, outletKey } from './identity.ts'

/** Numbers of outlets and authors as articles refer to them. */
export interface RegisteredNames {
  publisherNo(article: NewArticle): number
  authorNos(article: NewArticle): number[]
}

/**
 * Finds or adds the outlets and authors of some articles. Runs before the transaction that makes
 * the articles visible: names that no article uses in the end do no harm.
 */
export async function registerNames(db: Queryable, articles: NewArticle[]): Promise<RegisteredNames> {
  const publishers = new Map<string, PublisherRow>()
  const authors = new Map<string, AuthorRow>()
  for (const { outlet, authors: names } of articles) {
    const key = outletKey(outlet)
    publishers.set(publisherKey(key, outlet.name), {
      outlet: key,
      name: outlet.name,
      domain: outlet.domain,
      folded_name: foldName(outlet.name ?? ''),
      folded_domain: foldName(outlet.domain ?? ''),
    })
    for (const name of names) {
      const id = authorId(key, name)
      authors.set(id, { id, outlet: key, name, folded_name: foldName(name) })
    }
  }
  const publisherNos = await addUntilAllAreThere(publishers, async rows => {
    const found = await db.query<{ outlet: string; name: string | null; no: number }>({
      name: 'add-publishers',
      text: ADD_PUBLISHERS,
      values: [
        textArray(rows.map(row => row.outlet)),
        textArray(rows.map(row => row.name)),
        textArray(rows.map(row => row.domain)),
        textArray(rows.map(row => row.folded_name)),
        textArray(rows.map(row => row.folded_domain)),
      ],
    })
    return found.rows.map(row => [publisherKey(row.outlet, row.name), row.no])
  })
  const authorNos = await addUntilAllAreThere(authors, async rows => {
    const found = await db.query<{ id: string; no: number }>({
      name: 'add-authors',
      text: ADD_AUTHORS,
      values: [
        textArray(rows.map(row => row.id)),
        textArray(rows.map(row => row.outlet)),
        textArray(rows.map(row => row.name)),
        textArray(rows.map(row => row.folded_name)),
      ],
    })
    return found.rows.map(row => [row.id, row.no])
  })
  return {
    publisherNo: ({ outlet }) => publisherNos.get(publisherKey(outletKey(outlet), outlet.name))!,
    authorNos: ({ outlet, authors: names }) => [
      ...new Set(names.map(name => authorNos.get(authorId(outletKey(outlet), name))!)),
    ],
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

const publisherKey = (outlet: string, name: string | null) => (name === null ? outlet : `${outlet}\0${name}`)

/**
 * A row that another process adds at the same moment is neither ours nor visible yet. The loop then
 * asks again. Names are sorted, so that two processes with the same names wait in one direction
 * only.
 */
async function addUntilAllAreThere<T>(
  wanted: Map<string, T>,
  add: (rows: T[]) => Promise<[string, number][]>,
): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let attempt = 0; found.size < wanted.size; attempt++) {
    if (attempt === 10)
      throw new Error('Names of outlets or authors could not be added; the database drops what it accepts.')
    const missing = [...wanted].filter(([key]) => !found.has(key)).sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [key, no] of await add(missing.map(([, row]) => row))) found.set(key, no)
  }
  return found
}

// $1 outlets, $2 names, $3 domains, $4 folded names, $5 folded domains. Known rows are left out:
// each attempt to insert one would use up a number.
const ADD_PUBLISHERS = `
  with wanted as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
      as w (outlet, name, domain, folded_name, folded_domain)
  ), known as (
    select p.outlet, p.name, p.publisher_no
    from wanted w join publishers p on p.outlet = w.outlet collate "C" and p.name is not distinct from w.name
  ), added as (
    insert into publishers (outlet, name, domain, folded_name, folded_domain)
    select * from wanted w
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
    insert into authors (id, outlet, name, folded_name)
    select * from wanted w where not exists (select from known k where k.id = w.id collate "C")
    on conflict do nothing
    returning id, author_no
  )
  select id, author_no as no from known
  union all
  select id, author_no from added`
