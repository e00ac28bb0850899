import type { Pool } from '../../shared/postgres/pool.ts'

/** The pool, and the names of the statements that it was asked. */
export function overheard(pool: Pool): { db: Pool; names: string[] } {
  const names: string[] = []
  const db: Pool = Object.create(pool, {
    query: {
      value: (statement: string | { name?: string; text: string }, values?: unknown[]) => {
        if (typeof statement === 'object' && statement.name !== undefined) names.push(statement.name)
        return typeof statement === 'object' ? pool.query(statement) : pool.query(statement, values)
      },
    },
  })
  return { db, names }
}
