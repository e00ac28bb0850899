import pg from 'pg'

/** A copy of an archive, to write to. */
export interface ArchiveCopy {
  url: string
  drop(): Promise<void>
}

/**
 * Copies an archive within its server. A copy that an earlier run left is replaced.
 *
 * @param server address of a database on the server
 * @param url address of the archive
 * @param suffix of the copy's name
 */
export async function copyArchive(server: string, url: string, suffix: string): Promise<ArchiveCopy> {
  const original = new URL(url).pathname.slice(1)
  const name = `${original}_${suffix}`
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
  await onServer(`create database ${name} template ${original} strategy file_copy`, 'checkpoint')
  const address = new URL(url)
  address.pathname = `/${name}`
  return { url: address.href, drop }
}
