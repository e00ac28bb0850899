/**
 * Arguments and environment with which a Postgres tool reaches a database. The password is in the
 * environment, because every account of the machine sees arguments.
 */
export function toolConnection(databaseUrl: string, name: string): { url: string; env: NodeJS.ProcessEnv } {
  const url = new URL(databaseUrl)
  const password = decodeURIComponent(url.password)
  url.password = ''
  const env = { ...process.env, PGAPPNAME: name, ...(password === '' ? {} : { PGPASSWORD: password }) }
  return { url: url.href, env }
}

/** Major version of a server, by its setting `server_version_num`. */
export const majorVersion = (number: string | number): number => Math.floor(Number(number) / 10_000)

/** Whether an address asks for TLS. */
export const asksForTls = (databaseUrl: string): boolean =>
  !['disable', 'allow', 'prefer', null].includes(new URL(databaseUrl).searchParams.get('sslmode'))
