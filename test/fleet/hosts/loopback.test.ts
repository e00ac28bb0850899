import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { processesBelow } from './loopback.ts'

t.test('the processes of a host: by working directory, and by HOME where a program goes elsewhere', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-host-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const start = async (cwd: string, home: string) => {
    const child = spawn('sleep', ['60'], { cwd, env: { PATH: process.env.PATH, HOME: home } })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child, 'spawn')
    return child.pid
  }
  const own = [await start(folder, '/'), await start('/', folder), await start('/', join(folder, 'one'))]
  await start('/', `${folder}-other`)
  t.same(
    processesBelow(folder).sort((a, b) => a - b),
    own.sort((a, b) => Number(a) - Number(b)),
  )
})
