import pg from 'pg'

/** Makes an empty database beside the server's own. One that an earlier run left is replaced. */
export async function createDatabase(server: string, name: string): Promise<{ url: string; drop(): Promise<void> }> {
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
  await onServer(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop }
}
