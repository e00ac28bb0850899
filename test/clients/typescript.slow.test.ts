import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { buildPackages } from '../../scripts/clients/build.ts'
import { startTestApi } from '../contract/api.ts'
import { examplesOf } from './examples.ts'
import { indexNews } from './news.ts'

/* The TypeScript package from its built file, in an empty project. */

t.setTimeout(600_000)
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const api = await startTestApi()
t.teardown(() => api.stop())
const { secret } = await api.issue()
await indexNews(api)
const hasCounts = (await api.ask(secret, '/explore/counts?by=language')).status === 200
const project = t.testdir()
const built = await buildPackages(join(project, 'built'), AbortSignal.timeout(240_000), ['typescript'])
const env = { ...process.env, PERSCOPE_URL: api.base, PERSCOPE_KEY: secret }
const examples = examplesOf('typescript', 'ts').map((code, index) => ({ file: `example-${index}.ts`, code }))

t.test('issue 21.6: it installs from its file, without dependencies', async t => {
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'x', private: true, type: 'module' }))
  await run('npm', ['install', '--no-audit', '--no-fund', '--offline', built[0]!], { cwd: project })
  const installed = (await readdir(join(project, 'node_modules'))).filter(name => !name.startsWith('.'))
  t.strictSame(installed, ['perscope'])
  for (const { file, code } of examples) await writeFile(join(project, file), code)
})

t.test('issue 21.6: the examples of its README compile, strictly', async t => {
  const options = {
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noEmit: true },
    ...{ module: 'nodenext', target: 'es2022', lib: ['es2022'], skipLibCheck: false },
    ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts'] }))
  const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project], { cwd: project }).catch(e => e)
  t.equal(stdout, '')
})

t.test('issue 21.6: the examples of its README run', async t => {
  for (const { file, code } of examples) {
    const options = { skip: /\.counts\(/.test(code) && !hasCounts && 'this API has no counts' }
    await t.test(file, options, async t => {
      const { stdout } = await run(process.execPath, [file], { cwd: project, env })
      t.not(stdout.trim(), '', code)
    })
  }
})

t.test('issue 21.6: a poll from the README goes on where it was', async t => {
  const { file } = examples.find(({ code }) => /\.poll\(/.test(code))!
  const poll = async () => (await run(process.execPath, [file], { cwd: project, env })).stdout
  t.equal(await poll(), '', 'its state says what it has')
  await api.index([{ title: 'Nieuw sinds de laatste keer' }])
  t.match(await poll(), /^\S+ Nieuw sinds de laatste keer\n$/)
})
