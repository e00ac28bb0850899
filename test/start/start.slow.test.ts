import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import t from 'tap'
import { readCounts } from '#scripts/start/show'
import { snippetOf } from '#search/analysis/text'
import { createPool } from '#shared/postgres/pool'
import { freePort, runScript, until } from '#test/fleet'
import { sampleArticles } from '#test/sample'
import { isWhole, run } from '#test/script'
import { descendants, stillRunning, temporaryFolder, untilGone } from '#test/servers/running'
import { INSPECTOR_ON_ANY_PORT, spin } from '#test/spin'
import { start } from './running.ts'

const dataDir = temporaryFolder(t)
const port = String(await freePort())
const ofFirst = { DATA_DIR: dataDir, PORT: port, NORMALISE_THREADS: '1' }
const first = start(t, { ...ofFirst, ...INSPECTOR_ON_ANY_PORT })
const SERVICES = ['crawler', 'normaliser', 'embedder', 'api'] as const
const SAMPLE = sampleArticles()
const ARTICLES = SAMPLE.length

const curls = (text: string) => text.split('\n').filter(line => line.startsWith('curl '))

async function articlesFrom(curl: string): Promise<number> {
  const { stdout } = await run('/bin/sh', ['-c', curl])
  return curl.includes('.rss')
    ? stdout.split('<item>').length - 1
    : JSON.parse(stdout).articles.length
}

t.test(
  'services that hang are replaced within a minute, one that is slow is not, and nothing is lost',
  async t => {
    const { words } = first
    const pidOf = (name: string) =>
      descendants(first.pid).find(({ command }) => command.includes(`services/${name}/main.ts`))
        ?.pid ?? 0
    const logOf = (name: string) => readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8')
    const counts = async () => {
      const url = parseEnv(readFileSync(join(dataDir, 'env'), 'utf8')).DATABASE_URL ?? ''
      const pool = createPool(url, 'test', () => {}, { max: 1 })
      return readCounts(pool).finally(() => pool.end())
    }
    // In the middle of their work.
    await until(async () => (await counts()).articles > 0, 200_000, words)
    await until(() => SERVICES.every(name => logOf(name).includes('"started"')), 60_000, words)

    const before = new Map(SERVICES.map(name => [name, pidOf(name)]))
    const pid = (name: (typeof SERVICES)[number]) => before.get(name) ?? 0
    // Half a minute of computing says no more than standing still does: neither answers.
    if (isWhole)
      for (const name of ['crawler', 'api'] as const) await spin(pid(name), () => logOf(name))
    for (const name of isWhole ? (['normaliser', 'embedder'] as const) : SERVICES)
      process.kill(pid(name), 'SIGSTOP')
    const began = Date.now()
    t.comment(`hung with ${(await counts()).articles} of ${ARTICLES} articles indexed`)
    await pause(15_000)
    process.kill(pid('embedder'), 'SIGCONT')

    const hung = ['crawler', 'api', 'normaliser'] as const
    await until(
      () => hung.every(name => ![0, pid(name)].includes(pidOf(name))),
      began + 60_000 - Date.now(),
      words,
    )
    t.comment(`replaced within ${((Date.now() - began) / 1_000).toFixed(1)} s`)
    for (const name of hung)
      t.match(first.said(), `The ${name} has not answered for 30 s and is ended.`)
    await until(async () => (await counts()).embedded === ARTICLES, 120_000, words)
    t.match(
      await counts(),
      { articles: ARTICLES, embedded: ARTICLES },
      'every article is there, and embedded',
    )
    await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, 60_000, words)
    const env = { ...process.env, ...parseEnv(readFileSync(join(dataDir, 'env'), 'utf8')) }
    const lines = (await runScript(env, 'export')).trim().split('\n')
    const stored = new Map(
      lines.map(line => JSON.parse(line)).map(article => [article.title, article]),
    )
    for (const { title, publishedAt, language, outlet, answer, authors, paragraphs } of SAMPLE) {
      const { domain, country } = outlet
      t.match(
        stored.get(title),
        { published_at: publishedAt.toISOString(), language, country, outlet: { domain } },
        title,
      )
      if (answer === 'page')
        t.match(stored.get(title), { authors, snippet: snippetOf(paragraphs.join(' ')) }, title)
    }
    t.equal(pidOf('embedder'), pid('embedder'), 'silent for fifteen seconds, and let be')
  },
)

t.test(
  'a start shows three searches that find articles; the next start finds data and key',
  async t => {
    await until(() => curls(first.printed()).length === 3, 200_000, first.words)
    t.match(first.printed(), `http://127.0.0.1:${port}`, 'the address is shown')
    t.match(
      first.printed(),
      `To search in a browser: http://127.0.0.1:${port}/\n`,
      'the explorer, without a key',
    )
    t.notMatch(first.printed(), '\u001b', 'without colours when not on a terminal')
    const lines = curls(first.printed())
    await until(() => first.printed().includes('Ctrl-C ends it'), 60_000)
    const [, metrics = ''] = /\bcrawler (http:\/\/\S+\/metrics)/.exec(first.printed()) ?? []
    t.match(
      await (await fetch(metrics)).text(),
      'perscope_ready',
      'the printed address of the metrics answers',
    )
    const [, settings = ''] = /its settings: (\S+)/.exec(first.printed()) ?? []
    const { scrape_configs, alerting } = JSON.parse(readFileSync(settings, 'utf8'))
    t.match(alerting, { alertmanagers: [{}] })
    const jobs = scrape_configs.map((job: { job_name: string }) => job.job_name)
    t.same(jobs, [
      'perscope-crawler',
      'perscope-normaliser',
      'perscope-embedder',
      'perscope-notifier',
      'perscope-api',
    ])
    for (const line of lines) t.ok((await articlesFrom(line)) > 0, line)
    const keys = ['api.key', 'operator.key'].map(file =>
      readFileSync(join(dataDir, file), 'utf8').trim(),
    )
    const commands = descendants(first.pid).map(({ command }) => command)
    const logs = readdirSync(join(dataDir, 'logs')).map(file =>
      readFileSync(join(dataDir, 'logs', file), 'utf8'),
    )
    for (const key of keys) {
      t.ok(key.length > 20)
      const seen = [first.printed(), first.said(), ...commands, ...logs].filter(text =>
        text.includes(key),
      )
      t.equal(seen.length, 0, 'no key in what is not a terminal, in logs, or on a command line')
    }
    for (const file of ['api.key', 'operator.key']) {
      t.match(first.printed(), join(dataDir, file))
      t.equal(statSync(join(dataDir, file)).mode & 0o777, 0o600, file)
    }
    t.match(
      lines.join('\n'),
      /articles\?.*\n.*articles\.rss.*\n.*search=semantic/,
      'JSON, RSS, semantic',
    )

    const second = start(t, { DATA_DIR: dataDir, PORT: String(await freePort()) })
    t.equal(await second.ended, 1)
    t.match(
      second.said(),
      /^start: DATA_DIR \S+ is in use by npm start \(process \d+\); [^\n]+\.\n$/,
      'one sentence',
    )

    const members = descendants(first.pid).map(seen => seen.pid)
    t.ok(members.length >= 9, 'four services, three servers, a watchdog')
    // As a terminal does: to every process of the group.
    process.kill(-first.pid, 'SIGINT')
    t.equal(await first.ended, 0)
    t.same(stillRunning(members), [], 'no process is left')

    // As on a machine where a backup was restored.
    const sites = () => readFileSync(join(dataDir, 'sample-outlets.json'), 'utf8')
    const addresses = sites()
    rmSync(join(dataDir, 'sample-ports.json'))
    const again = start(t, { ...ofFirst, WEB_CONCURRENCY: '1' })
    await until(() => curls(again.printed()).length === 3, 100_000, again.words)
    t.same(curls(again.printed()), lines, 'the same key and searches')
    t.equal(sites(), addresses, 'the sample is where the database knows it')
    const children = descendants(again.pid).map(seen => seen.pid)
    process.kill(again.pid, 'SIGKILL')
    await untilGone(children, 25_000)
    t.pass('a SIGKILL of the parent leaves no process behind')
  },
)
t.test('what keeps it from starting is said in one sentence, before any work', async t => {
  const dataDir = temporaryFolder(t)
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  t.teardown(() => other.close())
  const free = String(await freePort())
  const damaged = join(dataDir, 'outlets.json')
  writeFileSync(damaged, '{"outlets": [')
  mkdirSync(join(dataDir, 'closed'), { mode: 0o700 })
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT: String(port) }, /Port \d+ on 127\.0\.0\.1 is in use by another program; .*PORT/],
    [{ PORT: 'http' }, /PORT is "http"; write a whole number/],
    [
      { PORT: free, OUTLETS: join(dataDir, 'none.json') },
      /OUTLETS is \S+none\.json, which cannot be read/,
    ],
    [{ PORT: free, OUTLETS: damaged }, /OUTLETS is \S+outlets\.json, which is not JSON/],
    [{ PORT: free, DATA_DIR: damaged }, /DATA_DIR \S+ is not a folder/],
    [{ PORT: free, HOST: '192.0.2.1' }, /cannot listen on 192\.0\.2\.1/],
  ]
  for (const [env, sentence] of cases) {
    const attempt = start(t, { DATA_DIR: dataDir, ...env })
    t.ok((await attempt.ended) ?? 1, 'fails')
    t.match(attempt.said(), sentence)
    t.match(attempt.said(), /^start: [^\n]+\.\n$/, 'one line')
  }
})
