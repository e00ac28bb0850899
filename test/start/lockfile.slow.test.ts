import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run } from '#test/script'
import { CHECKOUT, temporaryFolder } from '#test/servers/running'

const RUNTIME = `node-${process.platform}-${process.arch}`

interface Manifest {
  allowScripts: Record<string, boolean>
  packages: Record<
    string,
    { version?: string; integrity?: string; resolved?: string; inBundle?: boolean }
  >
}

const read = (name: string): Manifest => JSON.parse(readFileSync(join(CHECKOUT, name), 'utf8'))

const npm = (folder: string, ...args: string[]) =>
  run('npm', [...args, '--loglevel=error', '--prefer-offline'], { cwd: folder })

// That `npm ci` accepts the lockfile, every run in a fresh checkout shows (scripts/bootstrap.mjs).
t.test(
  'the lockfile pins every package with its sum, and no package’s script adds to them',
  async t => {
    const { '': _ours, ...packages } = read('package-lock.json').packages
    const loose = Object.entries(packages).filter(
      ([, { integrity, inBundle }]) => !integrity && !inBundle,
    )
    t.same(loose, [])
    t.same(
      Object.entries(packages).filter(([, { resolved }]) => resolved),
      [],
      'and names no registry',
    )
    const scripts = Object.values(read('package.json').allowScripts)
    t.ok(scripts.length > 0 && !scripts.includes(true))
  },
)

t.test('installing runs no script, with an npm too that knows nothing of allowScripts', async t => {
  const folder = temporaryFolder(t)
  copyFileSync(join(CHECKOUT, '.npmrc'), join(folder, '.npmrc'))
  const touch = `node -e "require('node:fs').writeFileSync('ran', '')"`
  const own = { name: 'one', version: '1.0.0', scripts: { postinstall: touch, start: touch } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own))
  await npm(folder, 'install')
  t.notOk(existsSync(join(folder, 'ran')))
  await npm(folder, 'start')
  t.ok(existsSync(join(folder, 'ran')), 'npm start and npm scripts are as ever')
})

t.test('the runtime is the one of the lockfile, without scripts, or none', async t => {
  const entry = read('package-lock.json').packages[`node_modules/${RUNTIME}`]
  t.match(process.execPath, join('node_modules', RUNTIME), 'this test runs on it')
  t.equal(process.version, `v${entry?.version}`)

  const foreign = `sha512-${Buffer.alloc(64).toString('base64')}`
  // Installed by its own sum it is in every fresh checkout: this test runs on it.
  const folder = temporaryFolder(t)
  const own = { name: 'one', version: '1.0.0', optionalDependencies: { [RUNTIME]: entry?.version } }
  const packages = { '': own, [`node_modules/${RUNTIME}`]: { ...entry, integrity: foreign } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own))
  const lock = JSON.stringify({ ...own, lockfileVersion: 3, packages })
  writeFileSync(join(folder, 'package-lock.json'), lock)
  await npm(folder, 'ci', '--ignore-scripts').catch(() => {})
  t.notOk(existsSync(join(folder, 'node_modules', '.bin', 'node')), 'a foreign sum')
})
