import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { read } from '#test/docs/checkout'
import { run, succeeds } from '#test/script'

/*
 * Runs the commands of docs/several-machines.md in their order, by their words, on three hosts that
 * have a file system of their own each. systemd enables units there and starts none: the scenarios
 * of docs/fleet.md start the servers, with the same files. In place of apt, Docker, Git and npm
 * stand programs that do nothing.
 */

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
const HOSTS = { a: '10.0.0.21', b: '10.0.0.22', c: '10.0.0.23' }
type Host = keyof typeof HOSTS
const ALL: Host[] = ['a', 'b', 'c']
const PROGRAMS = ['bin', 'sbin', 'lib', 'lib64']

/** What Debian's packages bring. */
const ACCOUNTS = ['root', 'etcd', 'haproxy', 'redis']
const UNITS = ['etcd', 'haproxy', 'redis-server', 'redis-sentinel']
const FOLDERS =
  'dev etc/redis etc/sysctl.d etc/systemd/system machines opt/perscope proc root tmp usr/local/bin var/lib/postgresql'
const IDLE = ['apt-get', 'docker', 'exportfs', 'git', 'npm', 'pg_dropcluster', 'sysctl']
const INSTALLS_POSTGRES = 'usr/share/postgresql-common/pgdg/apt.postgresql.org.sh'
const UNIT = '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n'

/** Refuses a unit that is not there, and starts none. Mounts what /etc/fstab has of others. */
const SYSTEMCTL = `#!/bin/bash
words=()
for word; do
  case $word in --now | --no-block) ;; *) words+=("$word") ;; esac
done
for word in "\${words[@]:1}"; do
  case $word in *.*) unit=$word ;; *) unit=$word.service ;; esac
  file=$(echo "$unit" | sed 's/@.*\\./@./')
  find /etc/systemd/system /usr/local/lib/systemd/system /usr/lib/systemd/system -name "$file" | grep -q . ||
    { echo "There is no unit $word." >&2; exit 5; }
  [ "$word" != remote-fs.target ] || sed -nE 's#^([0-9.]+):(/\\S+) (/\\S+) nfs .*#/machines/\\1\\2 \\3#p' /etc/fstab |
    while read -r from to; do mount --bind "$from" "$to"; done
done
case $1 in enable | disable) exec /usr/bin/systemctl "\${words[@]}" ;; esac
`
/** Runs commands on a host, with the programs of this machine, and the other hosts to mount. */
const ENTER = `
script=$1; root=$2; checkout=$3; cd "$root"
for name in usr/bin usr/sbin usr/lib usr/lib64 dev; do [ ! -e /$name ] || mount --rbind /$name $name; done
mount -t proc proc proc
mount --bind "$checkout" opt/perscope && mount -o remount,bind,ro opt/perscope
${ALL.map(name => `mount --bind ../${name} machines/${HOSTS[name]}`).join('\n')}
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/root \
  chroot . /bin/bash -euc "cd /opt/perscope; $script"`

function makeHost(root: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 })
  }
  for (const path of FOLDERS.split(' ')) mkdirSync(join(root, path), { recursive: true })
  for (const name of PROGRAMS) {
    mkdirSync(join(root, 'usr', name))
    symlinkSync(`usr/${name}`, join(root, name))
  }
  for (const path of ['/etc/pam.d', '/etc/security', '/etc/login.defs', '/etc/ld.so.cache'])
    if (existsSync(path)) cpSync(path, join(root, path), { recursive: true })
  const lines = (end: string) => ACCOUNTS.map((name, at) => `${name}:x:${200 * at}:${end}`).join('')
  write(
    'etc/passwd',
    ACCOUNTS.map((name, at) => `${name}:x:${200 * at}:${200 * at}::/:/bin/sh\n`).join(''),
  )
  write('etc/group', lines('\n'))
  for (const name of UNITS) write(`usr/local/lib/systemd/system/${name}.service`, UNIT)
  for (const name of IDLE) write(`usr/local/sbin/${name}`, '#!/bin/sh\n')
  write('usr/local/sbin/systemctl', SYSTEMCTL)
  write(INSTALLS_POSTGRES, '#!/bin/sh\n')
  for (const address of Object.values(HOSTS)) mkdirSync(join(root, 'machines', address))
}

const page = read('docs/several-machines.md')
const section = (text: string, heading: string) =>
  text.split(`\n${heading}\n`)[1]?.split(/\n##+ /)[0] ?? ''
/** The blocks of commands of a section. */
const blocksOf = (text: string, heading: string) =>
  [...section(text, heading).matchAll(/^( *)```\n([\s\S]*?)^\1```$/gm)].map(
    ([, , block = '']) => block,
  )
/** The hosts that a cell names, as `on a, then on b and c`; all where it names none. */
const hostsOf = (cell: string): Host[] => {
  const named = ALL.filter(name => new RegExp(`\\b(?:on|and) ${name}\\b`).test(cell))
  return named.length > 0 && !/on all$/.test(cell) ? named : ALL
}

const mayMount =
  process.getuid?.() === 0 &&
  (await succeeds(run('unshare', ['--mount', 'systemctl', '--version'])))
const skip = !mayMount && 'not root, or no systemd'
const folder = await mkdtemp(join(tmpdir(), 'perscope-three-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const rootOf = (host: Host) => join(folder, host)
if (mayMount) for (const host of ALL) makeHost(rootOf(host))

/** Runs commands on each of these hosts. */
async function on(t: Test, hosts: readonly Host[], commands: string): Promise<void> {
  for (const host of hosts) {
    const words = ['--mount', 'bash', '-euc', ENTER, '', commands, rootOf(host), CHECKOUT]
    const refusal = await run('unshare', words).then(
      () => null,
      error => error.stderr,
    )
    t.equal(refusal, null, `${host}: ${commands}`)
  }
}

t.test('each step of the setting up can be taken', { skip }, async t => {
  const [packages, checkout, secrets, shell, units, etcd, patroni, model, ...more] = blocksOf(
    page,
    '### To set it up',
  )
  const [archive, mounts, ...others] = blocksOf(page, '### The archive')
  t.same([...more, ...others], [], 'blocks that this test does not know')
  const [redis] = blocksOf(page, '## Redis with Sentinel')
  const [qdrant] = blocksOf(page, '## Qdrant on several hosts')
  const backUp = blocksOf(read('docs/backup.md'), '## Recovery to a point in time').find(block =>
    block.includes('infra/ha/postgres/base-backup '),
  )
  for (const block of [packages, checkout, secrets, shell, units, etcd]) await on(t, ALL, block!)
  for (const block of [patroni, model]) await on(t, ['a', 'b'], block!)
  for (const block of [redis, qdrant]) await on(t, ALL, block!)
  await on(t, ['c'], archive!)
  await on(t, ['a', 'b'], mounts!)
  // No server runs that has made a backup.
  await on(t, ['c'], backUp!.replace(/ && ls .*/, ''))
})

t.test('each unit of the start is there', { skip }, async t => {
  const { scripts } = JSON.parse(read('package.json'))
  const cells = section(page, '### To start it').match(/(?<=^\| )\d+ +\| .*?(?= +\|)/gm) ?? []
  t.equal(cells.length, 12)
  for (const cell of cells)
    for (const [command] of cell.matchAll(/(?<=`)(?:systemctl|npm) [^`]+/g)) {
      const rest = cell.slice(cell.indexOf(command) + command.length + 1)
      if (command.startsWith('npm')) t.ok(command.split(' ')[2]! in scripts, command)
      else await on(t, hostsOf(rest.split('; then')[0]!), command)
    }
})

const wanted = (host: Host) => {
  const system = join(rootOf(host), 'etc/systemd/system')
  const folders = readdirSync(system).filter(name => name.endsWith('.wants'))
  return folders.flatMap(name => readdirSync(join(system, name)))
}

t.test('units start where the table says what goes', { skip }, async t => {
  const loopback = 'HAProxy to Postgres and Qdrant, on loopback'
  const services = 'API, crawler, normaliser, embedder, notifier'
  for (const [unit, row] of Object.entries({
    'etcd.service': 'etcd',
    'patroni.service': 'Postgres under Patroni',
    'qdrant.service': 'Qdrant',
    'haproxy@postgres.service': loopback,
    'haproxy@qdrant.service': loopback,
    'haproxy@api.service': 'HAProxy before the APIs',
    'perscope-api.service': services,
    'perscope-crawler@1.service': services,
    'perscope-normaliser@1.service': services,
    'perscope-embedder@1.service': services,
    'perscope-notifier@1.service': services,
  })) {
    const cells =
      page
        .split('\n')
        .find(line => line.startsWith(`| ${row} `))
        ?.split('|') ?? []
    const holders = ALL.filter((_, at) => cells[at + 2]?.trim() === 'yes')
    t.same(
      ALL.filter(host => wanted(host).includes(unit)),
      holders,
      unit,
    )
  }
  t.ok(wanted('c').includes('postgres-base-backup.timer'))
})

t.test('each unit finds its files, secrets, program and account', { skip }, async t => {
  for (const host of ALL) {
    const at = (path: string) => join(rootOf(host), path)
    const accounts = readFileSync(at('etc/passwd'), 'utf8')
    for (const name of wanted(host)) {
      const [, kind = '', instance = ''] = /^([^@]+@?)(.*)\.\w+$/.exec(name) ?? []
      const ofAll = name.startsWith('perscope-') ? ['common', 'redis'] : []
      const unit = [`${kind}.service`, ...ofAll.map(own => `perscope-.service.d/${own}.conf`)]
        .filter(file => existsSync(at(`etc/systemd/system/${file}`)))
        .map(file => readFileSync(at(`etc/systemd/system/${file}`), 'utf8'))
        .join('\n')
        .replaceAll('%i', instance)
      const paths = unit.match(
        /(?<=^(?:EnvironmentFile=|LoadCredential=\S+?:))\S+|(?<=^Exec.*[= ])\/(?:etc|usr\/local)\/[\w./-]+/gm,
      )
      for (const path of paths ?? []) t.ok(existsSync(at(path)), `${host}: ${name} needs ${path}`)
      for (const [account] of unit.matchAll(/(?<=^User=)\S+/gm))
        t.match(accounts, `\n${account}:`, `${host}: ${name} runs as ${account}`)
    }
  }
})
