import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, rmdir, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { startServers } from '#infra/embedded/servers'
import { migrate } from '#infra/migrations/migrate'
import { ask } from '#test/database'
import { createFleet, QUICK_CRAWL, until } from '#test/fleet'
import { superuserUrl } from '#test/servers'
import { startSite } from './site/site.ts'

const DISK_MB = 320

/** A small disk of its own; null where this account may not mount one. */
async function mountDisk(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=755`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
    // The temporary folder above must let the database's account through.
    await chmod(folder, 0o755)
    return folder
  } catch {
    await rmdir(folder)
    return null
  }
}

const disk = await mountDisk()

const skip = disk === null ? 'this account may not mount a disk of its own' : false

t.test(
  'a full disk under Postgres: everything waits, few lines tell, and it goes on by itself',
  { skip },
  async t => {
    const folder = disk ?? ''
    const ballast = join(folder, 'ballast')
    const dataDir = await openDataDirectory(join(folder, 'data'), `a test (process ${process.pid})`)
    const said: string[] = []
    const servers = await startServers(dataDir, {
      servers: ['postgres'],
      report: sentence => void said.push(sentence),
      throwaway: true,
      keepTrying: true,
    })
    const url = servers.addresses.DATABASE_URL ?? ''
    const superuser = await superuserUrl(dataDir.path, url)
    await migrate(url)
    const site = await startSite(1)
    const fleet = createFleet({ DATABASE_URL: url, ...QUICK_CRAWL })
    t.teardown(async () => {
      await fleet.stop()
      await site.close()
      await servers.stop()
      dataDir.release()
      execFileSync('umount', ['-l', folder])
      await rm(folder, { recursive: true, force: true })
    })
    const query = (sql: string) => ask<{ n: number }>(superuser, sql)
    const articles = async () =>
      Number((await query('select count(*)::int as n from articles'))[0]?.n)
    const fill = async () => {
      const { bavail, bsize } = await statfs(folder)
      await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch(() => {})
    }
    await fleet.sync(site.catalogue)
    await fleet.start('crawler')
    await fleet.start('normaliser')
    await fleet.start('embedder')
    await fleet.start('api')
    const { key } = await fleet.makeKey('test')
    /** Statuses of searches, asked twice a second until it is stopped. */
    const searches = () => {
      const statuses = new Map<string, number>()
      const ask = async () => {
        const headers = { authorization: `Bearer ${key}` }
        const answer = await fetch(`${fleet.base()}/v1/articles?q=de`, { headers }).catch(
          () => null,
        )
        const waits =
          answer !== null && answer.status >= 500
            ? ` retry-after ${Number(answer.headers.get('retry-after')) > 0}`
            : ''
        const status = `${answer?.status ?? 'none'}${waits}`
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      const timer = setInterval(ask, 500)
      return () => {
        clearInterval(timer)
        return statuses
      }
    }
    site.print(5)
    await until(async () => (await articles()) === 5, 60_000)

    let printed = 5
    for (const how of ['no room for rows', 'no room for the log'] as const) {
      const lines = () =>
        fleet.members.map(({ log }) =>
          log()
            .split('\n')
            .filter(line => /"level":"(warn|error|fatal)"/.test(line)),
        )
      const before = lines().map(({ length }) => length)
      const asked = searches()
      said.length = 0
      await fill()
      // A new segment of the write-ahead log that cannot be made ends the server.
      if (how === 'no room for the log') {
        for (let n = 0; n < 6; n++) {
          await query(
            "select pg_switch_wal() from pg_logical_emit_message(false, 'test', repeat('x', 100000))",
          ).catch(() => {})
        }
      }
      site.print(40)
      printed += 40
      await new Promise(resolve => setTimeout(resolve, 12_000))
      t.comment(
        `${how}: Postgres ${await articles().catch(() => 'is away')}, ${lines()
          .map(({ length }, at) => length - (before[at] ?? 0))
          .join('+')} lines, said ${said.length}`,
      )
      for (const sentence of said) t.comment(sentence)
      for (const [at, { service, process }] of fleet.members.entries()) {
        t.equal(process.exitCode, null, `${how}: the ${service} waits`)
        const count = (lines()[at]?.length ?? 0) - (before[at] ?? 0)
        // Each refused request is a line of the API.
        t.ok(
          count <= (service === 'api' ? 60 : 25),
          `${how}: the ${service} complains ${count} times`,
        )
      }
      t.ok(said.length <= 3, `${how}: the supervisor says ${said.length} sentences`)
      await rm(ballast)
      const words = () => `${said.join('\n')}\n${fleet.logs()}`
      const room = performance.now()
      await until(async () => (await articles()) === printed, 60_000, words)
      t.comment(
        `${how}: nothing is lost, ${Math.round((performance.now() - room) / 1_000)} s after there was room`,
      )
      const statuses = asked()
      t.comment([...statuses].join(' '))
      const others = [...statuses.keys()].filter(
        status => !['200', '503 retry-after true'].includes(status),
      )
      t.same(others, [])
      const run = fleet.members.every(({ process }) => process.exitCode === null)
      t.ok(run, 'no service ended')
    }
    t.same(
      await query('select url from article_texts group by url having count(*) > 1'),
      [],
      'nothing is doubled',
    )
    t.same(
      await query("select state, reason, detail from pages where state = 'failed'"),
      [],
      'nobody is blamed',
    )
  },
)
