import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { listen } from '#test/fleet'
import { curl, explorerAddress, searches } from './show.ts'

/** Answers with the header and the address of the request. */
const server = createServer((request, response) => {
  response.end(JSON.stringify([request.headers.authorization, request.url]))
})
t.teardown(() => server.close())
const base = `http://127.0.0.1:${await listen(server)}`

for (const name of ['plain', 'with a space', "it's", '$(exit 1)`exit 1`"']) {
  t.test(
    `the line that is shown reads the key from a file, pasted into a shell: ${name}`,
    async t => {
      const folder = join(t.testdir(), name)
      mkdirSync(folder)
      const path = join(folder, 'api.key')
      writeFileSync(path, 'psk_secret\n')
      const { json } = searches(base, 'sample')
      for (const shown of [
        { kind: 'file', path } as const,
        { kind: 'itself', key: 'psk_secret' } as const,
      ]) {
        const line = curl(json, shown)
        t.equal(line.includes('psk_secret'), shown.kind === 'itself')
        const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line])
        t.same(JSON.parse(stdout), ['Bearer psk_secret', json.address.slice(base.length)])
      }
    },
  )
}

t.test('one address opens the explorer signed in, on a terminal alone', async t => {
  t.equal(explorerAddress(base, { kind: 'itself', key: 'psk_a-b' }), `${base}/#key=psk_a-b`)
  t.equal(explorerAddress(base, { kind: 'file', path: '/data/api.key' }), `${base}/`)
})
