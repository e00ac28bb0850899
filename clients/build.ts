import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { pythonTypes } from './python-types.ts'
import manifest from './typescript/package.json' with { type: 'json' }

const run = promisify(execFile)
const HERE = import.meta.dirname

/**
 * The packages for `npm install` and `pip install`, by the names of their files. Each is made in
 * memory from the sources, without a network, and always has the same bytes.
 */
export const PACKAGES: Readonly<Record<string, () => Promise<Buffer>>> = {
  [`perscope-${manifest.version}.tgz`]: buildTarball,
  [`perscope-${manifest.version}-py3-none-any.whl`]: buildWheel,
}

/**
 * The program is one file of JavaScript. `client.ts` and `contract.ts` have only types, so they are
 * shipped unchanged; `declarations.d.ts` has the other types.
 */
async function buildTarball(): Promise<Buffer> {
  const project = join(HERE, 'typescript')
  const source = (path: string) => readFile(join(project, path))
  const esbuild = join(HERE, '../node_modules/.bin/esbuild')
  const settings = [
    '--bundle',
    '--format=esm',
    '--target=es2022',
    '--charset=utf8',
    '--log-level=error',
  ]
  const { stdout } = await run(esbuild, [...settings, 'src/index.ts'], { cwd: project })
  const files = {
    'package.json': await source('package.json'),
    'README.md': await source('README.md'),
    'dist/index.js': Buffer.from(stdout),
    'dist/index.d.ts': await source('src/declarations.d.ts'),
    'dist/client.d.ts': await source('src/client.ts'),
    'dist/contract.d.ts': await source('src/contract.ts'),
  }
  return gzipSync(tarOf(files))
}

/** A tar archive (POSIX ustar) with the files in the folder that npm expects. */
function tarOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const parts = Object.entries(files).flatMap(([path, content]) => {
    const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
    const head = Buffer.alloc(512)
    head.write(`package/${path}`, 0)
    // Mode 644, no owner, and 1 January 1980. The wheel of the Python client has the same date,
    // because ZIP can express no earlier one.
    const numbers = [
      octal(0o644, 7),
      octal(0, 7),
      octal(0, 7),
      octal(content.length, 11),
      octal(315_532_800, 11),
    ]
    head.write(numbers.join('\0'), 100)
    head.write('0', 156)
    head.write('ustar\x0000', 257)
    // The checksum is computed with spaces in its own field.
    head.fill(' ', 148, 156)
    const sum = head.reduce((total, byte) => total + byte)
    head.write(`${octal(sum, 6)}\0`, 148)
    return [head, content, Buffer.alloc(-content.length & 511)]
  })
  return Buffer.concat([...parts, Buffer.alloc(1024)])
}

/** A wheel is a ZIP archive of the sources and of three files that describe them (PEP 427). */
async function buildWheel(): Promise<Buffer> {
  const project = join(HERE, 'python')
  const settings = await readFile(join(project, 'pyproject.toml'), 'utf8')
  const setting = (name: string) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(settings)?.[1] ?? ''
  const list = (name: string) =>
    JSON.parse(new RegExp(`^${name} = (\\[.*\\])$`, 'm').exec(settings)?.[1] ?? '[]')
  const info = `perscope-${setting('version')}.dist-info`
  const sources = join(project, 'src/perscope')
  const files = new Map<string, Buffer>()
  for (const name of (await readdir(sources)).filter(name => /\.(py|typed)$/.test(name)).sort()) {
    files.set(`perscope/${name}`, await readFile(join(sources, name)))
  }
  const contract = await readFile(join(HERE, 'typescript/src/contract.ts'), 'utf8')
  files.set('perscope/_contract.py', Buffer.from(pythonTypes(contract)))
  const asynchronous = await readFile(join(sources, '_async.py'), 'utf8')
  files.set('perscope/_sync.py', Buffer.from(withoutAsync(asynchronous)))
  const metadata = [
    'Metadata-Version: 2.1',
    'Name: perscope',
    `Version: ${setting('version')}`,
    `Summary: ${setting('description')}`,
    `Requires-Python: ${setting('requires-python')}`,
    ...list('dependencies').map((one: string) => `Requires-Dist: ${one}`),
    'Provides-Extra: pandas',
    ...list('pandas').map((one: string) => `Requires-Dist: ${one}; extra == "pandas"`),
    'Description-Content-Type: text/markdown',
    '',
    await readFile(join(project, 'README.md'), 'utf8'),
  ]
  files.set(`${info}/METADATA`, Buffer.from(metadata.join('\n')))
  files.set(
    `${info}/WHEEL`,
    Buffer.from(
      'Wheel-Version: 1.0\nGenerator: perscope\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ),
  )
  const sums = [...files].map(
    ([name, content]) =>
      `${name},sha256=${createHash('sha256').update(content).digest('base64url')},${content.length}`,
  )
  files.set(`${info}/RECORD`, Buffer.from(`${sums.join('\n')}\n${info}/RECORD,,\n`))
  // One date for all files makes equal archives of equal files. Everybody may read them (Unix).
  const same = { level: 0, mtime: new Date(1980, 0), os: 3, attrs: 0o100644 * 0x10000 } as const
  return Buffer.from(zipSync(Object.fromEntries(files), same))
}

/** Words of the client for asyncio, and the words that replace them in the synchronous client. */
const WAITING = [
  [
    'The client for asyncio. The build makes `_sync.py` of it, the client',
    'Made of `_async.py`: the client',
  ],
  ['import asyncio\n', ''],
  [/\b(?:async|await) /g, ''],
  ['asyncio.sleep', 'time.sleep'],
  ['aclose', 'close'],
  [/__a(enter|exit)__/g, '__$1__'],
  ['aiter_bytes', 'iter_bytes'],
  [/Async(Client|Iterator)/g, '$1'],
] as const

/** Converts the source of the asyncio client to that of the synchronous client. */
const withoutAsync = (source: string) =>
  WAITING.reduce(
    (text, [from, to]) =>
      typeof from === 'string' ? text.replaceAll(from, to) : text.replace(from, to),
    source,
  )
