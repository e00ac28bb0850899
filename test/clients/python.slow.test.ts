import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { buildPackages } from '../../clients/build.ts'
import { startTestApi } from '../contract/api.ts'
import { installPython } from '../contract/python.ts'
import { examplesOf } from './examples.ts'
import { indexNews } from './news.ts'
import { openRoad } from './road.ts'

/* The Python package from its built file, in an empty environment. */

t.setTimeout(600_000)
const run = promisify(execFile)

const api = await startTestApi({ AUTH_LOCK_FAILURES: '3' })
t.teardown(() => api.stop())
const { secret } = await api.issue({ countries: ['NL', 'BE'] })
await indexNews(api)
const folder = t.testdir()
const tools = await buildPackages(join(folder, 'built'), AbortSignal.timeout(240_000), ['python']).then(
  ([wheel]) => installPython(`${wheel}[pandas]`, 'mypy==2.1.0', 'pandas-stubs==3.0.0.260204'),
  error => `The wheel cannot be built here: ${String(error).split('\n')[0]}`,
)
const skip = typeof tools === 'string' ? tools : false
if (typeof tools !== 'string') t.teardown(tools.remove)
const python = typeof tools === 'string' ? '' : tools.program('python')
const env = { ...process.env, PERSCOPE_URL: api.base, PERSCOPE_KEY: secret }
const examples = examplesOf('python', 'python').map((code, index) => ({ file: `example_${index}.py`, code }))
for (const { file, code } of examples) await writeFile(join(folder, file), code)

t.test('issue 21.6: the examples of its README pass a type checker', { skip }, async t => {
  const mypy = ['-m', 'mypy', '--strict']
  const files = examples.map(({ file }) => file)
  const { stdout } = await run(python, [...mypy, ...files], { cwd: folder }).catch(error => error)
  t.match(stdout, /^Success/)
})

t.test('issue 21.6: the examples of its README run', { skip }, async t => {
  for (const { file, code } of examples) {
    await t.test(file, async t => {
      const { stdout } = await run(python, [file], { cwd: folder, env })
      t.not(stdout.trim(), '', code)
    })
  }
})

t.test('issue 21.6: a poll from the README goes on where it was', { skip }, async t => {
  const { file } = examples.find(({ code }) => /\.poll\(/.test(code))!
  const poll = async () => (await run(python, [file], { cwd: folder, env })).stdout
  t.equal(await poll(), '', 'its state says what it has')
  await api.index([{ title: 'Nieuw sinds de laatste keer' }])
  t.match(await poll(), /^\S+ Nieuw sinds de laatste keer\n$/)
})

t.test('issue 21.6: waits, errors, polls and added fields, on a road that breaks', { skip }, async t => {
  const road = await openRoad(api.base)
  t.teardown(() => road.close())
  const narrow = await api.issue({ rate: 3 })
  const script = new URL('./behaviour.py', import.meta.url).pathname
  for (const name of ['arguments', 'errors', 'pages', 'poll', 'waits']) {
    if (name === 'pages') road.always('add-field')
    if (name === 'poll') {
      road.always('pass')
      road.next(...Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? 'break' : 'pass')))
    }
    if (name === 'waits') road.next('break', 'break')
    const own = { ...env, PERSCOPE_ROAD: road.url, PERSCOPE_NARROW_KEY: narrow.secret }
    const { stdout, stderr } = await run(python, [script, name], { env: own }).catch(error => error)
    t.match(stdout, /held\n$/, `${name}: ${stderr}`)
  }
  t.ok(
    road.passed.some(({ etag, status }) => etag !== undefined && status === 304),
    'a poll without news costs no page',
  )
})
