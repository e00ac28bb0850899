import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startTestApi } from '#test/contract/api'
import { installPython } from '#test/contract/python'
import { run } from '#test/script'
import { indexNews } from './news.ts'

/* Clients that others generate from the OpenAPI document ask each operation. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const api = await startTestApi(t)
const { secret } = await api.issue()
await indexNews(api)
const env = { ...process.env, PERSCOPE_URL: api.base, PERSCOPE_KEY: secret }
const folder = t.testdir()
await writeFile(join(folder, 'openapi.json'), (await api.ask(null, '/v1/openapi.json')).text)

const tools = await installPython('openapi-python-client==0.29.1')
if (typeof tools !== 'string') t.teardown(tools.remove)

const PACKAGES = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3']
const project = join(folder, 'typescript')
const npm = [
  'install',
  '--prefix',
  project,
  '--no-audit',
  '--no-fund',
  '--ignore-scripts',
  ...PACKAGES,
]
const skip = await run('npm', npm, { timeout: 240_000 }).then(
  () => false,
  error => `${PACKAGES.join(', ')} cannot be installed here: ${String(error).split('\n')[0]}`,
)

t.test('openapi-python-client', { skip: typeof tools === 'string' && tools }, async t => {
  if (typeof tools === 'string') return
  const from = [
    'generate',
    '--path',
    'openapi.json',
    '--output-path',
    'generated',
    '--meta',
    'none',
  ]
  const { stdout: said } = await run(tools.program('openapi-python-client'), from, { cwd: folder })
  t.notMatch(said, /Unsupported|parsing|ERROR/, 'it takes the whole document')
  const script = join(folder, 'ask.py')
  await copyFile(new URL('./generated.py', import.meta.url), script)
  const { stdout, stderr } = await run(tools.program('python'), [script], {
    cwd: folder,
    env,
  }).catch(error => error)
  t.equal(stdout, 'held\n', stderr)
})

const PROGRAM = `
import createClient from 'openapi-fetch'
import type { components, paths } from "./generated.ts"
import type * as ours from '${ROOT}clients/typescript/src/contract.ts'

const client = createClient<paths>({
  baseUrl: process.env.PERSCOPE_URL!,
  headers: { Authorization: 'Bearer ' + process.env.PERSCOPE_KEY },
  querySerializer: { array: { style: 'form', explode: false } },
})
const ask = (query: NonNullable<paths['/v1/articles']['get']['parameters']['query']>) =>
  client.GET('/v1/articles', { params: { query } })
for (const search of ['keyword', 'boolean'] as const) {
  const country: components['schemas']['Country'][] = ['NL', 'BE']
  const { data } = await ask({ q: 'trein', search, country })
  if (data?.total_results !== 2) throw new Error(search)
  // What another generator reads from the document is what our own types say.
  const page: ours.Page = data
  const back: components['schemas']['Page'] = page
  if (back.articles.length !== 2) throw new Error(search)
}
const { error } = await ask({ q: 'trein', search: 'semantic' })
if (error?.code !== 'semantic_search_unavailable') throw new Error(JSON.stringify(error))
const { data: feed } = await client.GET('/v1/articles.rss', { params: { query: { q: 'trein' } }, parseAs: 'text' })
const text: string | undefined = feed
if (text?.split('<item>').length !== 3) throw new Error(text)
console.log('held')
`

t.test('openapi-typescript', { skip }, async t => {
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const bin = (name: string) => join(project, 'node_modules/.bin', name)
  await run(bin('openapi-typescript'), [join(folder, 'openapi.json'), '-o', 'generated.ts'], {
    cwd: project,
  })
  await writeFile(join(project, 'ask.ts'), PROGRAM)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2022',
    skipLibCheck: true,
    lib: ['es2022', 'dom'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    allowImportingTsExtensions: true,
  }
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['ask.ts'] }),
  )
  const { stdout: problems } = await run(bin('tsc'), ['-p', project], { cwd: project }).catch(
    error => error,
  )
  t.equal(problems, '')
  const { stdout, stderr } = await run(process.execPath, ['ask.ts'], { cwd: project, env }).catch(
    error => error,
  )
  t.equal(stdout, 'held\n', stderr)
})
