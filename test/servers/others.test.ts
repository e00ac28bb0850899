import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { writeWhole } from '#infra/embedded/files'
import { temporaryFolder } from './running.ts'

const OPEN = fileURLToPath(new URL('../../infra/embedded/data-directory.ts', import.meta.url))

t.test(
  'a folder that every account writes to is no DATA_DIR when others have put something there',
  async t => {
    const cases: [number, (folder: string) => void][] = [
      [0o1777, () => {}],
      [0o777, folder => symlinkSync('/etc/passwd', join(folder, 'qdrant.key'))],
    ]
    if (process.getuid?.() === 0) {
      cases.push([
        0o777,
        folder => {
          writeFileSync(join(folder, 'model.key'), 'planted')
          chownSync(join(folder, 'model.key'), 4_242, 4_242)
        },
      ])
    }
    for (const [mode, plant] of cases) {
      const folder = join(temporaryFolder(t), 'data')
      mkdirSync(folder)
      chmodSync(folder, mode)
      plant(folder)
      const before = readdirSync(folder)
      await t.rejects(openDataDirectory(folder, 'a test'), {
        message: `DATA_DIR ${folder} can be written to by every account (mode ${mode.toString(8)}), and is shared with others; set DATA_DIR to a folder of your own.`,
      })
      t.same(readdirSync(folder), before, 'nothing was written there')
    }
  },
)

t.test('a folder of our own that every account may write to is closed to them', async t => {
  const folder = join(temporaryFolder(t), 'data')
  mkdirSync(folder)
  chmodSync(folder, 0o777)
  writeFileSync(join(folder, 'start.log'), 'ours')
  const { release } = await openDataDirectory(folder, 'a test')
  t.equal(statSync(folder).mode & 0o777, 0o775)
  release()
})

t.test(
  'what is made under DATA_DIR is no other account’s to write, whatever the umask',
  async t => {
    const folder = join(temporaryFolder(t), 'data')
    const script = `
    import { mkdirSync, writeFileSync } from 'node:fs'
    process.umask(0)
    const { openDataDirectory } = await import(${JSON.stringify(OPEN)})
    const { path, release } = await openDataDirectory(${JSON.stringify(folder)}, 'a test')
    mkdirSync(path + '/logs')
    writeFileSync(path + '/ports.json', '')
    release()`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    t.equal(status, 0, stderr)
    for (const name of ['.', 'lock', 'logs', 'ports.json']) {
      t.equal(statSync(join(folder, name)).mode & 0o022, 0, name)
    }
  },
)

t.test('a file of keys takes nothing that another account has put in its way', async t => {
  const folder = temporaryFolder(t)
  const victim = join(folder, 'victim')
  writeFileSync(victim, 'mine')
  const file = join(folder, 'env')
  // The name that was foreseeable before.
  symlinkSync(victim, `${file}.${process.pid}.new`)
  symlinkSync(victim, file)
  await writeWhole(file, 'secret')
  t.equal(readFileSync(victim, 'utf8'), 'mine')
  t.equal(readFileSync(file, 'utf8'), 'secret')
  t.equal(statSync(file).mode & 0o777, 0o600)

  mkdirSync(join(folder, 'taken', 'full'), { recursive: true })
  await t.rejects(writeWhole(join(folder, 'taken'), 'secret'))
  t.same(
    readdirSync(folder).sort(),
    ['env', `env.${process.pid}.new`, 'taken', 'victim'],
    'no draft is left',
  )
})
