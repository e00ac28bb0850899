import type { Pool } from '#shared/postgres/pool'

/**
 * The pool, and the names of the statements that it was asked.
 *
 * @param refuse whether a statement is to fail
 */
export function overheard(
  pool: Pool,
  refuse: (text: string) => boolean = () => false,
): { db: Pool; names: string[] } {
  const names: string[] = []
  const db: Pool = Object.create(pool, {
    query: {
      value: (statement: string | { name?: string; text: string }, values?: unknown[]) => {
        if (typeof statement === 'object' && statement.name !== undefined)
          names.push(statement.name)
        const text = typeof statement === 'object' ? statement.text : statement
        if (refuse(text)) return Promise.reject(new Error('refused'))
        return typeof statement === 'object' ? pool.query(statement) : pool.query(statement, values)
      },
    },
  })
  return { db, names }
}
