import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { read } from '#test/docs/checkout'
import { makeTestSegments } from '#test/search/store'
import { startTestApi } from './api.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Beside requests, the API reads new articles, looks at alerts and its primary, and connects anew.
 * That happens during some requests. A file of the request itself also runs during each of so many
 * more.
 */
const MORE = 8
/** What only runs where a row or a list is not in memory, or while the index is read ahead. */
const COLD = [
  '/arrays.ts',
  '/search/store/postgres-articles.ts',
  '/search/store/postgres-segments.ts',
  '/warm-up.ts',
]

t.test(
  'a warm request runs through the files that docs/architecture.md lists, and no others',
  async t => {
    const [, after = ''] = read('docs/architecture.md').split('## A request, file by file\n')
    const section = after.split('\n## ')[0] ?? ''
    const named = [...section.matchAll(/`([^`]+\.ts)`/g)].map(([, file]) => `/${file}`)
    const api = await startTestApi(t)
    const { secret } = await api.issue()
    await api.index(
      ['De brug is open', 'De brug is dicht', 'Het weer'].map(title => ({
        title,
        body: `${title}.`,
      })),
    )
    await makeTestSegments(api.pool, { flushed: 2n, merged: 8n })
    await api.index([{ title: 'Een brug' }])
    // The answer of a query string that was sent before may be kept.
    let sent = 0
    const ask = () =>
      api.ask(secret, `/v1/articles?q=brug&search_in=title_body&per_page=2${'&'.repeat(sent++)}`)
    for (let warm = 0; warm < 3; warm++) t.match(await ask(), { json: { total_results: 3 } })
    const session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    const filesOfRequest = async () => {
      await session.post('Profiler.takePreciseCoverage')
      await ask()
      const { result } = await session.post('Profiler.takePreciseCoverage')
      const files = result
        .filter(
          ({ url, functions }) =>
            url.startsWith('file:') && functions.some(({ ranges }) => ranges[0]!.count > 0),
        )
        .map(({ url }) => relative(ROOT, fileURLToPath(url)))
      return files.filter(file => /^(search|services|shared)\//.test(file))
    }
    const isUnnamed = (file: string) => !named.some(name => `/${file}`.endsWith(name))
    let run = await filesOfRequest()
    for (let more = 0; more < MORE && run.some(isUnnamed); more++) {
      const again = await filesOfRequest()
      run = run.filter(file => again.includes(file))
    }
    session.disconnect()
    t.same(run.filter(isUnnamed).sort(), [], 'not on the page')
    const idle = named.filter(name => !run.some(file => `/${file}`.endsWith(name)))
    const unused = idle.filter(name => !COLD.includes(name))
    t.same(unused, [], 'on the page, and not run')
    t.match(section, `runs through ${new Set(named).size - COLD.length} files`)
  },
)
