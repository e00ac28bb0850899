import pg from 'pg'

/** A database of a bench's own. */
export interface BenchDatabase {
  url: string
  drop(): Promise<void>
}

/**
 * Makes a database beside the server's own. One that an earlier run left is replaced.
 *
 * @param server address of a database on the server
 * @param template database that is copied; absent: the new one is empty
 */
export async function createDatabase(server: string, name: string, template?: string): Promise<BenchDatabase> {
  const onServer = async (...statements: string[]) => {
    const client = new pg.Client(server)
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  const drop = () => onServer(`drop database if exists ${name} with (force)`)
  await drop()
  if (template === undefined) await onServer(`create database ${name}`)
  else await onServer(`create database ${name} template ${template} strategy file_copy`, 'checkpoint')
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop }
}
