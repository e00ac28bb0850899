import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import t from 'tap'
import { filesOf, read } from '#test/docs/checkout'

/** The services of the fleet. */
const SERVICES = [...read('Procfile').matchAll(/^(\w+):/gm)].map(([, name = '']) => name)

/** Lists of services, each with what a line for a service looks like. */
const LISTS: Record<string, (service: string) => RegExp> = {
  'README.md': name => new RegExp(`\`npm run ${name}\``),
  'docker-compose.yml': name => new RegExp(`^  ${name}:$`, 'm'),
  'docs/architecture.md': name => new RegExp(`\\b${name}\\b`, 'i'),
  'docs/one-machine.md': name => new RegExp(`systemctl enable --now [^]*perscope-${name}\\b`),
  'docs/operations.md': name => new RegExp(`docker compose stop .*\\b${name}\\b`),
  'docs/several-machines.md': name => new RegExp(`systemctl enable --now .*perscope-${name}\\b`),
  'infra/monitoring/prometheus.hosts.yml': jobOf,
  'infra/monitoring/prometheus.procfile.yml': jobOf,
  'infra/monitoring/prometheus.yml': jobOf,
  'infra/monitoring/rules/perscope.yml': name => new RegExp(`absent\\(up\\{job="perscope-${name}"`),
  'scripts/start/services.ts': name => new RegExp(`SERVICES = .*'${name}'`),
  'status/machines.ts': name => new RegExp(`SERVICES.* = .*'${name}'`),
}

function jobOf(name: string): RegExp {
  return new RegExp(`job_name: perscope-${name}$`, 'm')
}

t.test('every service of the Procfile stands in every list of services', async t => {
  t.ok(SERVICES.length >= 5, SERVICES.join())
  for (const [file, line] of Object.entries(LISTS))
    for (const service of SERVICES) t.match(read(file), line(service), `${file}: ${service}`)
  for (const service of SERVICES) {
    const units = [`perscope-${service}.service`, `perscope-${service}@.service`]
    t.ok(
      units.some(unit => existsSync(`infra/ha/systemd/${unit}`)),
      `a unit of ${service}`,
    )
  }
})

/** Blocks that name several services and leave one out, by a part of them, with the reason. */
const WITHOUT: Record<string, string> = {
  '- alert: PerscopeNoArticles': 'rules on the way of an article and on messages',
  '"each cause says what is wrong, and the first thing to do"': 'the rows of a test',
  '- `DATABASE_URL` (url)': 'the table of settings',
  '- `PerscopeProcessDown`': 'the table of alarms',
  'in one transaction with': 'the way of an article; the notifier tells of it later',
  'npm run chaos` starts the whole fleet': 'chaos runs no notifier; its own tests kill it',
  '`kill`, `end` a crawler': 'chaos runs no notifier; its own tests kill it',
  '- It takes ids and addresses, also': 'those that write articles, and the one that clears them',
  '| files of `npm run backup`': 'those that write what a removed article said to their logs',
  'export async function prove': 'the same',
  'A page or an embedding that failed for good': 'what is in the quarantine',
  'Reasons of failures on our side': 'what is in the quarantine',
  'function stepsOf': 'the way of an article on the page of status',
  'type Worker =': 'the way of an article on the page of status',
}

t.test('whatever names most services names all of them', async t => {
  const files = filesOf().filter(
    file =>
      !/^(?:test|bench|docs\/experiments|web\/words|infra\/migrations)\//.test(file) &&
      !/\.test\.(?:ts|yml)$|package-lock|CHANGELOG|mutants/.test(file) &&
      /\.(?:md|yml|tsx?|mjs|json|cfg|env|target|conf|service)$|^Procfile$/.test(file),
  )
  const found = files.flatMap(file =>
    read(file)
      .split(/\n\s*\n/)
      .filter(block => {
        const named = SERVICES.filter(one =>
          new RegExp(`(?<![\\w/.])(?:perscope-)?${one}s?(?![\\w/]|\\.ts)`, 'i').test(block),
        )
        const isList = named.filter(one => one !== 'api').length >= 3
        return isList && !SERVICES.every(one => one === 'api' || named.includes(one))
      })
      .map(block => [file, block] as const),
  )
  const wrong = found.filter(
    ([, block]) => !Object.keys(WITHOUT).some(part => block.includes(part)),
  )
  t.same(
    wrong.map(([file, block]) => `${file}: ${block.slice(0, 200)}`),
    [],
  )
  for (const [part, why] of Object.entries(WITHOUT))
    t.ok(
      found.some(([, block]) => block.includes(part)),
      `${part}: ${why}`,
    )
})

t.test('whatever sends mail is told of the mail server', async t => {
  for (const file of [
    'README.md',
    'docker-compose.yml',
    'docs/operations.md',
    'docs/several-machines.md',
    'infra/ha/systemd/perscope-notifier@.service',
  ])
    t.match(read(file), /SMTP_URL/, file)
})

t.test('Alertmanager takes the example, and tells of each severity', async t => {
  const file = 'infra/monitoring/alertmanager.yml'
  const severities = new Set(
    [...read('infra/monitoring/rules/perscope.yml').matchAll(/severity: (\w+)/g)].map(
      ([, severity = '']) => severity,
    ),
  )
  t.same(severities, new Set(['critical', 'warning', 'info']))
  for (const prometheus of ['', '.hosts', '.procfile'])
    t.match(read(`infra/monitoring/prometheus${prometheus}.yml`), /alertmanagers:/)
  const amtool = (...words: string[]) => execFileSync('amtool', words, { encoding: 'utf8' })
  try {
    amtool('--version')
  } catch {
    return t.comment('no amtool (Debian package prometheus-alertmanager)')
  }
  t.match(amtool('check-config', file), /SUCCESS/)
  const receiver = (severity: string) =>
    amtool('config', 'routes', 'test', `--config.file=${file}`, `severity=${severity}`).trim()
  t.strictSame([...severities].map(receiver).sort(), ['mail', 'mail', 'pager'])
})
