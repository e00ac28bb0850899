import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startTestApi } from '#test/contract/api'
import { listen } from '#test/fleet'
import { run } from '#test/script'
import { browserPath, launch } from '#test/web/browser'
import { codesOf, examplesOf, installationOf, runExamples } from './examples.ts'
import { indexNews } from './news.ts'

/* The TypeScript package as the running API serves it, in an empty project. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const project = t.testdir()
// The files of the package, as any server of files has them.
const pages = createServer(async ({ url = '' }, answer) => {
  const isFile = /^\/\w+\.js$/.test(url)
  answer.setHeader('Content-Type', isFile ? 'text/javascript' : 'text/html')
  answer.end(
    isFile ? await readFile(join(project, 'node_modules/perscope/dist', url)) : '<!doctype html>',
  )
})
const origin = `http://127.0.0.1:${await listen(pages)}`
t.teardown(() => pages.close())

const api = await startTestApi(t, { CORS_ORIGINS: origin, ALERT_HOSTS: 'example.org' })
const { secret } = await api.issue()
await indexNews(api)
const env = { ...process.env, PERSCOPE_URL: api.base, PERSCOPE_KEY: secret }
const programs = [...examplesOf('typescript', 'ts'), ...codesOf(api.base, 'TypeScript')]
const examples = programs.map((code, index) => ({ file: `example-${index}.mts`, code }))

t.test('it installs from the running API, without a registry and dependencies', async t => {
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true }))
  const closed = { npm_config_registry: 'http://127.0.0.1:9', npm_config_audit: 'false' }
  const steps = installationOf('typescript', api.base, secret)
  await run('sh', ['-ec', steps], { cwd: project, env: { ...process.env, ...closed } })
  const installed = (await readdir(join(project, 'node_modules'))).filter(
    name => !name.startsWith('.'),
  )
  t.strictSame(installed, ['perscope'])
  for (const { file, code } of examples) await writeFile(join(project, file), code)
})

t.test('the examples of its README and of the explorer compile, strictly', async t => {
  const options = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022'],
    skipLibCheck: false,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['*.mts'] }),
  )
  const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project], {
    cwd: project,
  }).catch(e => e)
  t.equal(stdout, '')
})

t.test('the examples of its README and of the explorer run', t =>
  runExamples(
    t,
    api,
    examples,
    async file => (await run(process.execPath, [file], { cwd: project, env })).stdout,
  ),
)

t.test(
  'it works in a browser',
  { skip: !browserPath && 'no chromium on this machine' },
  async t => {
    if (browserPath === undefined) return
    const browser = await launch(t)
    const page = await browser.newPage()
    await page.goto(origin)
    const found: unknown = await page.evaluate(`(async () => {
    const { createClient } = await import('/index.js')
    const client = createClient({ url: ${JSON.stringify(api.base)}, key: ${JSON.stringify(secret)} })
    let ids = 0
    let state = null
    for await (const batch of client.poll()) {
      ids += batch.articles.length
      state = batch.state
    }
    for await (const batch of client.poll({}, { state })) state = batch.state
    return [ids, typeof state.etag, client.limits().rate.limit]
  })()`)
    const { total_results: total } = (await api.ask(secret, '/v1/articles')).json
    t.strictSame(
      found,
      [total, 'string', 100_000],
      'with the ETag and the counters, which CORS lets through',
    )
  },
)
