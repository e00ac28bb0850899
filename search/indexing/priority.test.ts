import { execFile } from 'node:child_process'
import { getPriority } from 'node:os'
import { promisify } from 'node:util'
import tap from 'tap'

const run = promisify(execFile)

const SOURCE = `
  import { getPriority } from 'node:os'
  import { Worker } from 'node:worker_threads'
  import { lowerPriority } from ${JSON.stringify(new URL('./scheduler.ts', import.meta.url).href)}
  lowerPriority()
  // A priority belongs to a thread: its own number is the name of a folder.
  const own = \`
    const { readlinkSync } = require('node:fs')
    const { getPriority } = require('node:os')
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    require('node:worker_threads').parentPort.postMessage(getPriority(thread))\`
  new Worker(own, { eval: true, execArgv: [] }).on('message', started => console.log(getPriority(), started))
`

tap.test(
  'a thread that gives way has a low priority, and so have those that it starts',
  { skip: process.platform !== 'linux' && 'priorities belong to threads on Linux only' },
  async t => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', SOURCE])
    const expected = Math.max(10, getPriority())
    t.equal(stdout, `${expected} ${expected}\n`)
  },
)
