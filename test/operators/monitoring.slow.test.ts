import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { createTestDatabase } from '#test/database'
import { createFleet, type Fleet, freePort, type ServiceName, until } from '#test/fleet'
import { run, succeeds } from '#test/script'

const FOLDER = fileURLToPath(new URL('../../infra/monitoring/', import.meta.url))
const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8')

interface Rule {
  alert?: string
  record?: string
  expr: string
}
interface Panel {
  title: string
  targets?: { expr: string }[]
}

const rules: Rule[] = parse(read('rules/perscope.yml')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
)
const dashboard: { panels: Panel[] } = JSON.parse(read('grafana/dashboards/perscope.json'))
const alerts = rules.flatMap(({ alert }) => alert ?? [])
/** Those of `promtool test rules`. */
const TRIALS = ['tests/perscope.test.yml', 'tests/days.test.yml']

/** Names of metrics in an expression. Recorded ones hold a colon. */
const namesIn = (expr: string) => expr.match(/\b(?:perscope|process|nodejs)[_:][\w:]+/g) ?? []

t.test('every figure in rules and dashboard is one that the running services show', async t => {
  const database = await createTestDatabase(t)
  const servers = {
    DATABASE_URL: database.url,
    DATABASE_READ_URL: database.url,
    QDRANT_URL: '',
    EMBEDDINGS_URL: '',
  }
  const fleet = createFleet({ ...servers, LOG_LEVEL: 'warn' }, t)
  const shown = new Set<string>()
  for (const service of [
    'api',
    'crawler',
    'normaliser',
    'embedder',
    'notifier',
  ] as const satisfies ServiceName[]) {
    const base = await startReady(fleet, service)
    const ready = await fetch(`${base}/readyz`)
    const { missing } = (await ready.json()) as { missing: string[] }
    t.equal(ready.status, service === 'embedder' ? 503 : 200)
    t.equal(missing.includes('vectors'), service === 'embedder', `${service} says what it misses`)
    const text = await (await fetch(`${base}/metrics`)).text()
    readNames(text, shown)
    if (service !== 'api')
      t.match(text, /^perscope_queue_messages\{queue="\w+",state="\w+",service="\w+"\} /m)
    t.match(
      text,
      new RegExp(
        `^perscope_ready\\{service="${service}"\\} ${service === 'embedder' ? 0 : 1}$`,
        'm',
      ),
    )
  }
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []))
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets?.map(({ expr }) => expr) ?? []),
  ]
  const used = new Set(expressions.flatMap(namesIn))
  t.ok(used.size > 25, `${used.size} figures are used`)
  for (const name of used) t.ok(shown.has(name) || recorded.has(name), name)
  for (const family of [...shown].filter(name => name.startsWith('perscope_'))) {
    t.match(family, /^perscope_[a-z0-9_]+$/)
  }
})

/** Starts a service and waits until it is ready or says what it misses; returns its address. */
async function startReady(fleet: Fleet, service: ServiceName): Promise<string> {
  const port = await freePort()
  const member = await fleet.start(service, { METRICS_PORT: String(port) })
  const base = `http://127.0.0.1:${port}`
  const log = () => `${service}: ${member.log()}`
  await until(async () => (await fetch(`${base}/healthz`)).ok, 60_000, log)
  await until(
    async () => !(await (await fetch(`${base}/readyz`)).text()).includes('not finished'),
    60_000,
    log,
  )
  return base
}

function readNames(text: string, shown: Set<string>): void {
  for (const [, name = '', kind] of text.matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
    for (const end of kind === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      shown.add(name + end)
  }
}

t.test('every alarm has a test and a place in the documentation', async t => {
  const tested = new Set(
    TRIALS.flatMap(file => parse(read(file)).tests).flatMap(
      (one: { alert_rule_test: { alertname: string; exp_alerts: [] }[] }) =>
        one.alert_rule_test.flatMap(({ alertname, exp_alerts }) =>
          exp_alerts.length > 0 ? alertname : [],
        ),
    ),
  )
  const guide = readFileSync(join(FOLDER, '../../docs/operations.md'), 'utf8')
  for (const alert of alerts) {
    t.ok(tested.has(alert), `${alert} is tested`)
    t.match(guide, `\`${alert}\``, `${alert} is explained`)
  }
})

t.test('Grafana finds the dashboard and its source of data', async t => {
  const [source] = parse(read('grafana/provisioning/datasources/prometheus.yml')).datasources
  for (const { title, targets } of dashboard.panels) {
    for (const target of targets ?? []) t.match(target, { datasource: { uid: source.uid } }, title)
  }
  const [provider] = parse(read('grafana/provisioning/dashboards/perscope.yml')).providers
  const compose = parse(readFileSync(join(FOLDER, '../../docker-compose.yml'), 'utf8'), {
    merge: true,
  })
  t.ok(
    compose.services.grafana.volumes.some((volume: string) =>
      volume.includes(`:${provider.options.path}`),
    ),
  )
  const ports: number[] = parse(read('prometheus.yml')).scrape_configs.flatMap(
    ({
      job_name,
      dns_sd_configs,
    }: {
      job_name: string
      dns_sd_configs: { names: string[]; port: number }[]
    }) =>
      dns_sd_configs.flatMap(({ names, port }) => {
        for (const name of names)
          t.ok(compose.services[name], `${job_name} is a service of docker-compose.yml`)
        return job_name.startsWith('perscope-') ? port : []
      }),
  )
  t.strictSame([...new Set(ports.map(String))], [compose.services.api.environment.METRICS_PORT])
})

t.test('the files without containers ask each service at the port of its unit', async t => {
  const units = readdirSync(join(FOLDER, '../ha/systemd')).filter(name =>
    /^perscope-.*\.service$/.test(name),
  )
  const shown = units.map(name => {
    const unit = read(`../ha/systemd/${name}`)
    // The first one of a machine, as perscope-crawler@1.
    const port = /^Environment=METRICS_PORT=(.+)$/m.exec(unit)?.[1]?.replace('%i', '1')
    return [name.replace(/@?\.service$/, ''), [port]]
  })
  for (const file of ['prometheus.hosts.yml', 'prometheus.procfile.yml']) {
    const { scrape_configs, rule_files } = parse(read(file))
    const asked = scrape_configs.map(
      (job: { job_name: string; static_configs: { targets: string[] }[] }) => {
        const targets = job.static_configs.flatMap(each => each.targets)
        return [job.job_name, [...new Set(targets.map(target => target.split(':')[1]))]]
      },
    )
    t.strictSame(
      Object.fromEntries(asked),
      Object.fromEntries([...shown, ['node', ['9100']]]),
      file,
    )
    t.strictSame(rule_files, parse(read('prometheus.yml')).rule_files)
  }
})

const hasPromtool = await succeeds(run('promtool', ['--version']))
const skip = !hasPromtool && 'no promtool (Debian package prometheus)'
t.test('promtool accepts and tries them', { skip }, async t => {
  const promtool = async (...words: string[]) => {
    const said = await run('promtool', words, { cwd: FOLDER }).catch(
      (error: { stdout: string; stderr: string }) => error,
    )
    t.match(said.stdout, /SUCCESS/, words.join(' '))
    t.notMatch(`${said.stdout}${said.stderr}`, /FAILED/, said.stderr)
  }
  for (const file of readdirSync(FOLDER).filter(name => /^prometheus.*\.yml$/.test(name)))
    await promtool('check', 'config', file)
  await promtool('test', 'rules', ...TRIALS)
  // It reads the questions of a dashboard as those of rules.
  const asked = dashboard.panels.flatMap(({ targets }) => targets?.map(({ expr }) => expr) ?? [])
  const questions = asked.map((expr, at) => ({
    record: `q:${at}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }))
  const file = join(t.testdir(), 'dashboard.yml')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: questions }] }))
  await promtool('check', 'rules', file)
})
