import { execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm, statfs, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { rotate } from '#infra/embedded/supervision/supervise'
import { createTestDatabase } from '#test/database'
import { freePort, makeKey, until } from '#test/fleet'

const folder = await mkdtemp(join(tmpdir(), 'perscope-logs-'))
const mounted = (() => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
t.teardown(async () => {
  if (mounted) execFileSync('umount', ['-l', folder])
  await rm(folder, { recursive: true, force: true })
})
const skip = mounted ? false : 'this account may not mount a disk of its own'

t.test(
  'the disk of the logs is full: searches answer, and lines are written again',
  { skip },
  async t => {
    const database = await createTestDatabase(t)
    const log = join(folder, 'api.log')
    const port = await freePort()
    const metrics = await freePort()
    const env = {
      ...process.env,
      DATABASE_URL: database.url,
      REDIS_URL: '',
      LOG_LEVEL: 'info',
      HOST: '127.0.0.1',
      WEB_CONCURRENCY: '2',
      PORT: String(port),
      METRICS_PORT: String(metrics),
    }
    const { key } = await makeKey(env, 'test')
    const output = openSync(log, 'a')
    const main = new URL('../../services/api/main.ts', import.meta.url).pathname
    const api = spawn(process.execPath, [main], { env, stdio: ['ignore', output, output] })
    closeSync(output)
    t.teardown(() => api.kill('SIGKILL'))
    const search = async () =>
      (
        await fetch(`http://127.0.0.1:${port}/v1/articles?q=raad`, {
          headers: { authorization: `Bearer ${key}` },
        })
      ).status
    await until(async () => (await search()) === 200, 60_000)

    const { bavail, bsize } = await statfs(folder)
    await writeFile(join(folder, 'ballast'), Buffer.alloc(bavail * bsize)).catch(() => {})
    const lost = async () => {
      const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
      return [...text.matchAll(/^perscope_log_lines_lost_total.* (\d+)$/gm)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      )
    }
    await until(async () => (await search()) === 200 && (await lost()) > 10, 60_000)
    for (let n = 0; n < 50; n++) t.equal(await search(), 200)
    t.equal(api.exitCode, null)

    await rm(join(folder, 'ballast'))
    const { length } = await readFile(log, 'utf8')
    t.equal(await search(), 200)
    const written = async () => (await readFile(log, 'utf8')).slice(length)
    await until(async () => (await written()).endsWith('}\n'), 5_000)
    t.match(
      JSON.parse((await written()).trim().split('\n').at(-1) ?? ''),
      { service: 'api' },
      'a line of its own',
    )
  },
)

t.test(
  'logs are moved aside by age and by size, and give way on a full disk',
  { skip },
  async t => {
    const log = join(folder, 'some.log')
    const text = (file: string) => readFile(file, 'utf8').catch(() => null)
    await writeFile(log, 'new')
    rotate(log)
    t.same([await text(log), await text(`${log}.1`)], ['new', null])
    await writeFile(`${log}.1`, 'old')
    const weekAgo = new Date(Date.now() - 8 * 86_400_000)
    await utimes(`${log}.1`, weekAgo, weekAgo)
    rotate(log)
    t.same([await text(log), await text(`${log}.1`)], ['', 'new'])
    execFileSync('truncate', ['-s', '70M', log])
    rotate(log)
    t.same([await text(log), await text(`${log}.1`)], ['', null], 'there was no room for a copy')
  },
)
