import pg from 'pg'

export interface ArchiveToCopy {
  /** Address of a database on the server. */
  server: string
  /** Address of the archive. */
  url: string
  say: (line: string) => void
}

/** A copy of an archive to be written to; the archive stays as it is. */
export async function copyDatabase({ server, url, say }: ArchiveToCopy) {
  const name = `${new URL(url).pathname.slice(1)}_written`
  const onServer = async (...statements: string[]) => {
    const client = new pg.Client(server)
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  say('Copying the archive …')
  const drop = () => onServer(`drop database if exists ${name} with (force)`)
  await drop()
  await onServer(`create database ${name} template ${new URL(url).pathname.slice(1)} strategy file_copy`, 'checkpoint')
  const address = new URL(url)
  address.pathname = `/${name}`
  return { url: address.href, drop }
}
