import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGES } from '#clients/build'
import { startTestApi } from '#test/contract/api'
import { QUICK_PYTHON } from '#test/contract/python'
import { isWhole, run } from '#test/script'
import { blocksOf, codesOf, examplesOf, installationOf, runExamples } from './examples.ts'
import { indexNews } from './news.ts'
import { FOREIGN_ANSWERS, openForeign, openRoad } from './road.ts'

/* The Python package as the running API serves it, in an empty environment. */

const api = await startTestApi(t, { AUTH_LOCK_FAILURES: '3', ALERT_HOSTS: 'example.org' })
const { secret } = await api.issue({ countries: ['NL', 'BE'] })
await indexNews(api)
const folder = t.testdir()
const python = join(folder, 'venv/bin/python')
const env = {
  ...process.env,
  ...QUICK_PYTHON,
  PERSCOPE_URL: api.base,
  PERSCOPE_KEY: secret,
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
}
const pip = (...words: string[]) =>
  run(python, ['-m', 'pip', 'install', '--quiet', ...words], { cwd: folder, env })
const wheel = `${api.base}/clients/${Object.keys(PACKAGES).find(name => name.endsWith('.whl'))}`
// The steps of the README, then what the checks below need.
const skip = await run('sh', ['-ec', installationOf('python', api.base, secret)], {
  cwd: folder,
  env,
})
  .then(() => pip('mypy==2.1.0', 'pandas-stubs==3.0.0.260204'))
  .then(() => (isWhole ? pip('matplotlib==3.10.9') : null))
  .then(
    () => false,
    error => `httpx, pandas or mypy cannot be installed here: ${String(error).split('\n')[0]}`,
  )
const programs = [...examplesOf('python', 'python'), ...codesOf(api.base, 'Python')]
const examples = programs.map((code, index) => ({ file: `example_${index}.py`, code }))
for (const { file, code } of examples) await writeFile(join(folder, file), code)

t.test('it installs from the running API, without PyPI', { skip }, async t => {
  await pip('--no-index', '--no-deps', '--target', 'alone', wheel)
  const program =
    'import perscope; print(perscope.__file__, perscope.Client(*__import__("sys").argv[1:]).search()["status"])'
  const { stdout } = await run(python, ['-c', program, api.base, secret], {
    cwd: folder,
    env: { ...env, PYTHONPATH: 'alone' },
  })
  t.match(stdout, /\/alone\/perscope\/__init__\.py ok\n$/)
  t.match(
    (await run(python, ['-m', 'pip', 'check'])).stdout,
    /No broken requirements/,
    'it names what it needs',
  )
})

t.test('printed programs pass a strict type checker', { skip }, async t => {
  const files = examples.map(({ file }) => file)
  // matplotlib takes longer than all others. `analysis.slow.test.ts` runs this program.
  if (isWhole) {
    const [analysis = ''] = blocksOf('docs/analysis.md', 'python')
    await writeFile(join(folder, 'analysis.py'), analysis)
    files.push('analysis.py')
  }
  const { stdout } = await run(python, ['-m', 'mypy', '--strict', ...files], { cwd: folder }).catch(
    error => error,
  )
  t.match(stdout, /^Success/)
})

t.test('the examples of its README and of the explorer run', { skip }, t =>
  runExamples(
    t,
    api,
    examples,
    async file => (await run(python, [file], { cwd: folder, env })).stdout,
  ),
)

t.test('waits, errors, polls and added fields, on a road that breaks', { skip }, async t => {
  const road = await openRoad(api.base)
  t.teardown(() => road.close())
  const narrow = await api.issue({ rate: 3 })
  const script = new URL('./behaviour.py', import.meta.url).pathname
  const foreign = await openForeign()
  t.teardown(() => foreign.close())
  const PERSCOPE_FOREIGN = JSON.stringify(
    FOREIGN_ANSWERS.map(([fate, kind, { source }]) => [fate, kind, source]),
  )
  for (const name of ['arguments', 'errors', 'foreign', 'pages', 'poll', 'waits']) {
    if (name === 'pages') road.always('add-field')
    if (name === 'poll') {
      road.always('pass')
      road.next(...Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? 'break' : 'pass')))
    }
    if (name === 'waits') road.next('break', 'break')
    const url = name === 'foreign' ? foreign.url : road.url
    const own = { ...env, PERSCOPE_FOREIGN, PERSCOPE_ROAD: url, PERSCOPE_NARROW_KEY: narrow.secret }
    const { stdout, stderr } = await run(python, [script, name], { env: own }).catch(error => error)
    t.match(stdout, /held\n$/, `${name}: ${stderr}`)
  }
  const isUnchanged = road.passed.some(({ etag, status }) => etag !== undefined && status === 304)
  t.ok(isUnchanged, 'a poll without news costs no page')
})
