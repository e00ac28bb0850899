import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import t from 'tap'
import { readCounts } from '#scripts/start/show'
import { snippetOf } from '#search/analysis/text'
import { createPool } from '#shared/postgres/pool'
import { freePort, runScript, until } from '#test/fleet'
import { sampleArticles } from '#test/sample'
import { descendants, temporaryFolder } from '#test/servers/running'
import { INSPECTOR_ON_ANY_PORT, spin } from '#test/spin'
import { start } from './running.ts'

const SERVICES = ['crawler', 'normaliser', 'embedder', 'api'] as const
const SAMPLE = sampleArticles()
const ARTICLES = SAMPLE.length

t.test(
  'services that hang are replaced within a minute, one that is slow is not, and nothing is lost',
  async t => {
    const dataDir = temporaryFolder(t)
    const port = String(await freePort())
    const running = start(t, { DATA_DIR: dataDir, PORT: port, ...INSPECTOR_ON_ANY_PORT })
    const { words } = running
    const pidOf = (name: string) =>
      descendants(running.pid).find(({ command }) => command.includes(`services/${name}/main.ts`))
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
    await spin(pid('crawler'), () => logOf('crawler'))
    await spin(pid('api'), () => logOf('api'))
    process.kill(pid('normaliser'), 'SIGSTOP')
    process.kill(pid('embedder'), 'SIGSTOP')
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
      t.match(running.said(), `The ${name} has not answered for 30 s and is ended.`)
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
    process.kill(running.pid, 'SIGINT')
    t.equal(await running.ended, 0)
  },
)
