import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { blocksOf } from '#test/clients/examples'
import { installPython } from '#test/contract/python'
import { read } from '#test/docs/checkout'
import { freePort, heard, until } from '#test/fleet'
import { CHECKOUT, descendants, temporaryFolder, untilGone } from '#test/servers/running'

/* The steps of docs/operations.md, "On one machine by the Procfile", as printed, with honcho. */

const tools = await installPython('honcho==2.0.0')
const skip = typeof tools === 'string' ? tools : false

/** The services that Prometheus asks, and their ports. */
const JOBS = /job_name: perscope-(\w+)\n.*127\.0\.0\.1:(\d+)/g

t.test('foreman ends what it starts: a shell gives way to its command', async t =>
  t.notMatch(read('Procfile'), /^\w+: (?!exec ).*\$/m),
)

t.test(
  'honcho runs the Procfile beside the embedded servers, its API on the port that is set',
  { skip },
  async t => {
    if (typeof tools === 'string') return
    t.teardown(() => tools.remove())
    const folder = temporaryFolder(t)
    for (const name of readdirSync(CHECKOUT))
      if (!['.data', '.git'].includes(name)) symlinkSync(join(CHECKOUT, name), join(folder, name))
    mkdirSync(join(folder, '.data'), { mode: 0o755 })
    // The last digit of a port numbers the processes of a line.
    const port = Math.floor((await freePort()) / 10) * 10
    const metrics = await freePort()
    const steps = blocksOf('docs/operations.md', 'sh').find(block => block.includes('honcho')) ?? ''
    const env = {
      ...process.env,
      PATH: `${tools.folder}/bin:${process.env.PATH}`,
      WEB_CONCURRENCY: '1',
    }
    const script = steps
      .replace('PORT=8080', `PORT=${port}`)
      .replace('METRICS_PORT=9464', `METRICS_PORT=${metrics}`)
    const shell = spawn('bash', ['-ec', script], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = [heard(shell.stdout), heard(shell.stderr)]
    t.teardown(async () => {
      const children = descendants(shell.pid ?? 0).map(({ pid }) => pid)
      process.kill(-(shell.pid ?? 0), 'SIGTERM')
      await untilGone(children, 60_000)
    })
    const tell = () => said.map(part => part()).join('\n')
    await until(
      () =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          one => one.ok,
          () => false,
        ),
      200_000,
      tell,
    )
    const key = /psk_[\w-]+/.exec(tell())?.[0]
    const page = await fetch(`http://127.0.0.1:${port}/v1/articles`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    t.match(await page.json(), { status: 'ok', articles: [] })
    t.equal(statSync(join(folder, '.data/own.env')).mode & 0o777, 0o600, "the operator's key")
    const asked = [...read('infra/monitoring/prometheus.procfile.yml').matchAll(JOBS)]
    t.equal(asked.length, 5)
    for (const [, service, at] of asked) {
      const place = metrics + Number(at) - 9464
      await until(
        async () =>
          (await (await fetch(`http://127.0.0.1:${place}/metrics`)).text()).includes(
            `service="${service}"`,
          ),
        60_000,
        () => `${service} is not at ${place}, ${at} of prometheus.procfile.yml: ${tell()}`,
      )
    }
  },
)
