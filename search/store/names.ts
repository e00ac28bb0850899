import type { ArticleOutlet } from '../../shared/articles/article.ts'
import type { Queryable } from '../../shared/postgres/pool.ts'
import { createMemory, type Memory } from '../cache/cache.ts'

export interface Author {
  id: string
  name: string
}

/** Outlets and authors as articles show them, by number. */
export interface Names {
  outlet(no: number): ArticleOutlet
  author(no: number): Author
}

/** Bytes of names that a process keeps: they never change once given a number, and every page needs some. */
const NAMES_BYTES = 32 << 20

const memories = new WeakMap<Queryable, { outlets: Memory<number, ArticleOutlet>; authors: Memory<number, Author> }>()

export async function readNames(db: Queryable, publisherNos: number[], authorNos: number[]): Promise<Names> {
  let memory = memories.get(db)
  if (memory === undefined) {
    memory = { outlets: createMemory(NAMES_BYTES / 4), authors: createMemory(NAMES_BYTES) }
    memories.set(db, memory)
  }
  const [outlets, authors] = await Promise.all([
    recall(memory.outlets, publisherNos, async missing => {
      const { rows } = await db.query<ArticleOutlet & { no: number }>(OUTLETS, [missing])
      return rows.map(({ no, name, domain }) => [no, { name, domain }])
    }),
    recall(memory.authors, authorNos, async missing => {
      const { rows } = await db.query<Author & { no: number }>(AUTHORS, [missing])
      return rows.map(({ no, id, name }) => [no, { id, name }])
    }),
  ])
  return { outlet: no => outlets.get(no)!, author: no => authors.get(no)! }
}

async function recall<T>(
  memory: Memory<number, T>,
  nos: number[],
  read: (missing: number[]) => Promise<[number, T][]>,
) {
  const found = new Map<number, T>()
  const missing: number[] = []
  for (const no of new Set(nos)) {
    const known = memory.get(no)
    if (known === undefined) missing.push(no)
    else found.set(no, known)
  }
  if (missing.length === 0) return found
  for (const [no, value] of await read(missing)) {
    found.set(no, value)
    memory.set(no, value, 100)
  }
  return found
}

// $1 numbers
const OUTLETS = 'select publisher_no as no, name, domain from publishers where publisher_no = any ($1::int[])'
const AUTHORS = 'select author_no as no, id, name from authors where author_no = any ($1::int[])'
