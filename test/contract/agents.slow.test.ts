import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { listen } from '#test/fleet'
import { startTestApi } from './api.ts'

/** The official suite, `@modelcontextprotocol/conformance`. */
const PACKAGE = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/conformance/package.json',
)
const SUITE = join(PACKAGE, '../dist/index.js')

/** Scenarios for servers that do not apply, by the reason. */
const LEFT_OUT = {
  'they call or list a tool of their own fixture':
    'json-schema-2020-12 tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content tools-call-error tools-call-with-progress tools-call-with-logging',
  'the door asks nothing of clients':
    'tools-call-sampling tools-call-elicitation elicitation-sep1034-defaults elicitation-sep1330-enums',
  'there are tools alone':
    'resources-list resources-read-text resources-read-binary resources-templates-read resources-subscribe resources-unsubscribe prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image',
  'no logs are sent, and nothing is completed': 'logging-set-level completion-complete',
}
const left = Object.values(LEFT_OUT).flatMap(names => names.split(' '))

const folder = await mkdtemp(join(tmpdir(), 'perscope-conformance-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))

const run = (...args: string[]) =>
  new Promise<{ code: number; output: string }>(resolve => {
    execFile(process.execPath, [SUITE, ...args], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
    )
  })

t.test('every scenario of the official suite that applies is green', async t => {
  const api = await startTestApi(t)
  const { secret } = await api.issue()
  // The suite sends no key.
  const proxy = createServer((asked, answered) => {
    const headers = { ...asked.headers, authorization: `Bearer ${secret}` }
    const passed = request(new URL('/mcp', api.base), { method: asked.method, headers }, answer => {
      answer.pipe(answered.writeHead(answer.statusCode ?? 502, answer.headers))
    })
    asked.pipe(passed.on('error', () => answered.destroy()))
  })
  const url = `http://localhost:${await listen(proxy, 'localhost')}/mcp`
  t.teardown(() => proxy.close())
  const { output } = await run('list', '--server')
  const scenarios = [...output.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => `${name}`)
  t.equal(left.filter(name => scenarios.includes(name)).length, left.length, output)
  const applying = scenarios.filter(name => !left.includes(name))
  t.ok(applying.includes('server-initialize') && applying.length >= 6, applying.join())
  for (const name of applying) {
    const { code, output } = await run('server', '--url', url, '--scenario', name)
    t.equal(code, 0, `${name}\n${output}`)
  }
})
