import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const OWN = process.geteuid?.() ?? 0
/** An account that owns nothing. */
const OTHER = 65_535
const asRoot = OWN === 0 ? false : 'only root can run a process as somebody else'

/** Makes a checkout with one module and a folder for packages. */
function checkout(t: Test): string {
  const root = mkdtempSync(join(tmpdir(), 'compiled-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  chmodSync(root, 0o755)
  mkdirSync(join(root, 'shared/process'), { recursive: true })
  mkdirSync(join(root, 'node_modules'))
  cpSync(fileURLToPath(new URL('node.ts', import.meta.url)), join(root, 'shared/process/node.ts'))
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeFileSync(join(root, 'module.ts'), 'export const answer: number = 42')
  const program = `
    import { keepCompiled, makeCompiledFolder } from "./shared/process/node.ts"
    const account = Number(process.argv[2])
    if (account !== process.geteuid?.()) makeCompiledFolder(account)
    process.setuid?.(account)
    const given = process.env.NODE_COMPILE_CACHE
    keepCompiled()
    const folder = given === undefined ? (process.env.NODE_COMPILE_CACHE ?? null) : null
    const { answer } = await import("./module.ts")
    console.log(JSON.stringify({ folder, answer }))`
  writeFileSync(join(root, 'program.ts'), program)
  return root
}

interface Start {
  folder: string | null
  answer: number
  /** Whether Node took the module from the cache. */
  wasKept: boolean
}

/** Runs the program of a checkout until it ends. */
async function start(
  root: string,
  env: Record<string, string> = {},
  account = OWN,
): Promise<Start> {
  const options = { env: { PATH: process.env.PATH, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...env } }
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [join(root, 'program.ts'), String(account)],
    options,
  )
  const said = stdout.split('\n').find(line => line.startsWith('{')) ?? '{}'
  return { ...JSON.parse(said), wasKept: /module\.ts was accepted/.test(stderr + stdout) }
}

const folderIn = (root: string, account = OWN) =>
  join(root, 'node_modules/.cache/perscope', String(account))

t.test(
  'the second start takes its code from the cache, and a changed module is compiled anew',
  async t => {
    const root = checkout(t)
    t.same(await start(root), { folder: folderIn(root), answer: 42, wasKept: false })
    t.same(await start(root), { folder: folderIn(root), answer: 42, wasKept: true })
    t.equal(lstatSync(folderIn(root)).mode & 0o777, 0o700, 'nobody else looks in')
    writeFileSync(join(root, 'module.ts'), 'export const answer: number = 43')
    t.same(await start(root), { folder: folderIn(root), answer: 43, wasKept: false })
    t.match(await start(root), { answer: 43, wasKept: true })
  },
)

/** Changes after which the folder for compiled code must not be used. */
const UNFIT: Record<string, (root: string) => void> = {
  'a folder that others may write to': root => {
    mkdirSync(folderIn(root), { recursive: true })
    chmodSync(folderIn(root), 0o770)
  },
  'a link': root => {
    mkdirSync(join(root, 'node_modules/.cache/perscope'), { recursive: true })
    symlinkSync(root, folderIn(root))
  },
  'a file in its way': root => writeFileSync(join(root, 'node_modules/.cache'), ''),
}
for (const [name, make] of Object.entries(UNFIT)) {
  t.test(`${name} is not used, and does no harm`, async t => {
    const root = checkout(t)
    make(root)
    t.match(await start(root), { folder: null, answer: 42, wasKept: false })
  })
}

t.test(
  'coverage is counted without the cache, and NODE_COMPILE_CACHE names another one',
  async t => {
    const root = checkout(t)
    await start(root)
    t.match(await start(root, { NODE_V8_COVERAGE: join(root, 'coverage') }), {
      folder: null,
      wasKept: false,
    })
    const own = { NODE_COMPILE_CACHE: join(root, 'own') }
    t.match(await start(root, own), { folder: null, wasKept: false })
    t.match(await start(root, own), { folder: null, wasKept: true })
  },
)

t.test('root makes the folder of the account that it changes to', { skip: asRoot }, async t => {
  const root = checkout(t)
  const own = { folder: folderIn(root, OTHER), answer: 42 }
  t.same(await start(root, {}, OTHER), { ...own, wasKept: false })
  t.same(await start(root, {}, OTHER), { ...own, wasKept: true })
  t.match(lstatSync(folderIn(root, OTHER)), { uid: OTHER, gid: OTHER })
  t.same(
    await start(root),
    { folder: folderIn(root), answer: 42, wasKept: false },
    'root takes nothing of it',
  )
})
