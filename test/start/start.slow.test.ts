import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { freePort, until } from '#test/fleet'
import { run } from '#test/script'
import { descendants, stillRunning, temporaryFolder, untilGone } from '#test/servers/running'
import { start } from './running.ts'

const curls = (text: string) => text.split('\n').filter(line => line.startsWith('curl '))

async function articlesFrom(curl: string): Promise<number> {
  const { stdout } = await run('/bin/sh', ['-c', curl])
  return curl.includes('.rss')
    ? stdout.split('<item>').length - 1
    : JSON.parse(stdout).articles.length
}

t.test(
  'a start shows three searches that find articles; the next start finds data and key',
  async t => {
    const dataDir = temporaryFolder(t)
    const port = String(await freePort())
    const first = start(t, { DATA_DIR: dataDir, PORT: port })
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
    const again = start(t, { DATA_DIR: dataDir, PORT: port })
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
    [{ PORT: free, EMBED_DELAY: 'soon' }, /EMBED_DELAY is "soon"; write a duration/],
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
