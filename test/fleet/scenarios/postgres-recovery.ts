import { chown, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ask } from '#test/database'
import { runScript, until } from '#test/fleet'
import { startEtcd } from '#test/fleet/parts/etcd'
import { startPostgresProxy } from '#test/fleet/parts/haproxy'
import { type LogArchive, openArchive } from '#test/fleet/parts/log-archive'
import { operatorsFile } from '#test/fleet/parts/operators-file'
import {
  askSuperuser,
  PASSWORD,
  type PatroniMember,
  primaryOf,
  startPatroni,
  untilRole,
  untilSynchronous,
} from '#test/fleet/parts/patroni'
import { DATABASE, makeDatabase } from '#test/fleet/parts/perscope'
import { type PatroniPrograms, patroniPrograms } from '#test/fleet/programs/patroni'
import { endRecovery, recoverTo, untilAtMoment } from '#test/recovery/log-archive'
import type { Scenario, Stage } from './scenario.ts'

const LIMIT_MS = 60_000

/** The steps of docs/several-machines.md, "Recovery under Patroni", with two members. */
export const postgresRecovery: Scenario = {
  name: 'postgres-recovery',
  about:
    'Two hosts with Postgres: the primary is switched over, a table is dropped, and the archive leads back.',
  needsNamespaces: false,
  async run(stage) {
    const { box, say } = stage
    const programs = await patroniPrograms(stage)
    const hosts = await Promise.all(['a', 'b', 'c'].map(name => box.addHost(name)))
    const etcd = await startEtcd(box, hosts)
    const archive = await openArchive(box, programs)
    const members = await startPatroni(box, programs, hosts.slice(0, 2), etcd, archive)
    const [first] = members
    const proxyHost = hosts[2]
    if (!first || !proxyHost) throw new Error('There are too few hosts.')
    const proxy = await startPostgresProxy(box, proxyHost, members)
    await makeDatabase(members)
    const url = (address: string) => `postgres://${DATABASE}:${PASSWORD}@${address}/${DATABASE}`
    const env = {
      ...process.env,
      DATABASE_URL: url(proxy.primary),
      QDRANT_URL: '',
      REDIS_URL: '',
      DATA_DIR: box.folder,
    }
    await runScript(env, 'migrate')
    await ask(url(proxy.primary), 'create table notes (n int primary key)')
    await archive.backUp(proxy.primary)
    say('Postgres runs on two hosts, and a base backup is taken.')

    await switchBy(stage, first, () =>
      ask(url(proxy.primary), 'insert into notes values (1) on conflict do nothing'),
    )
    await untilSynchronous(members)
    const moment = await makeMistake(url(proxy.primary), archive, members)
    for (const { host } of members) await host.stop('patroni')
    await first.control(['remove', 'perscope'], 'perscope\nYes I am aware\n')
    say('The cluster is forgotten.')

    await recover(stage, programs, archive, first, moment)
    await runScript(
      { ...env, DATABASE_URL: url(`${first.host.address}:${first.port}`) },
      'recovered',
    )
    await removeLines(first, programs)
    await first.host.stop('recovering')
    say('The server is recovered; Patroni takes it back.')
    await first.start()
    await untilRole(first, 'primary')
    for (const member of members.slice(1)) {
      await rm(member.data, { recursive: true })
      await member.start()
    }
    await untilSynchronous(members)
    await ask(url(proxy.primary), 'insert into notes values (2)')
    await archive.backUp(proxy.primary)
    await check(stage, archive, first)
  },
}

const askAs = (member: PatroniMember, sql: string) => askSuperuser(member, sql, DATABASE)

/** Switches the primary over with `patronictl`, and measures how long no write is answered. */
async function switchBy(
  { figure }: Stage,
  primary: PatroniMember,
  write: () => Promise<unknown>,
): Promise<void> {
  await primary.control(['list'])
  let answered = Date.now()
  let longest = 0
  let isOver = false
  const writing = until(async () => {
    await write()
    longest = Math.max(longest, Date.now() - answered)
    answered = Date.now()
    return isOver
  }, 2 * LIMIT_MS)
  writing.catch(() => {})
  await primary.control(['switchover', '--leader', primary.host.name, '--force'])
  isOver = true
  await writing
  figure(
    'switched over by patronictl: longest time without a write',
    `${(longest / 1000).toFixed(1)} s`,
  )
}

/** @returns the moment before the mistake */
async function makeMistake(
  url: string,
  archive: LogArchive,
  members: readonly PatroniMember[],
): Promise<string> {
  const [{ moment } = { moment: '' }] = await ask(url, 'select clock_timestamp()::text as moment')
  await ask(url, 'drop table notes')
  const primary = await primaryOf(members)
  if (!primary) throw new Error('There is no primary.')
  await archive.inspect(primary)
  return String(moment)
}

/**
 * Starts the member's server on the base backup, without Patroni, and lets it replay up to the
 * moment.
 */
async function recover(
  { say }: Stage,
  { owner, postgres }: PatroniPrograms,
  archive: LogArchive,
  member: PatroniMember,
  moment: string,
): Promise<void> {
  const { data, host } = member
  await rm(data, { recursive: true })
  await archive.restore(data)
  await recoverTo(moment, data, archive)
  const args = ['-D', data, '-c', `listen_addresses=${host.address}`]
  const env = { PERSCOPE_ARCHIVE: archive.folder, PERSCOPE_ARCHIVE_WAL: archive.program }
  await host.start({ name: 'recovering', command: join(postgres, 'postgres'), args, owner, env })
  await untilAtMoment(sql => askAs(member, sql))
  say('The server is at the moment.')
  await endRecovery(sql => askAs(member, sql))
}

async function removeLines({ data }: PatroniMember, { owner }: PatroniPrograms): Promise<void> {
  const file = join(data, 'postgresql.auto.conf')
  const lines = await readFile(operatorsFile('postgres/recover.conf'), 'utf8')
  const [before = ''] = (await readFile(file, 'utf8')).split(lines.split('\n')[0] ?? '')
  await writeFile(file, before)
  if (owner) await chown(file, owner.uid, owner.gid)
}

/** The table is back, and so are Patroni's settings; and the log goes on into the archive. */
async function check(
  { findings }: Stage,
  archive: LogArchive,
  primary: PatroniMember,
): Promise<void> {
  const [told] = await askAs(
    primary,
    `select current_setting('archive_mode') as mode, current_setting('synchronous_standby_names') as standbys,
            (select string_agg(n::text, ',' order by n) from notes) as notes`,
  )
  if (told?.notes !== '1,2') findings.add(`The table holds ${told?.notes} after the recovery.`)
  if (told?.mode !== 'always') findings.add(`archive_mode is ${told?.mode} after the recovery.`)
  if (told?.standbys === '') findings.add('No standby is synchronous after the recovery.')
  const { missing } = await archive.inspect(primary)
  if (missing.length > 0)
    findings.add(`The archive lacks segments of the log: ${missing.join(', ')}.`)
}
