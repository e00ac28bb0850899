import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, gzipSync } from 'node:zlib'
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
  return zipOf(files)
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

/**
 * A ZIP archive without compression, with one date for all files, so that equal files make equal
 * archives.
 */
function zipOf(files: ReadonlyMap<string, Buffer>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, content] of files) {
    const name = Buffer.from(path)
    // Version 2.0, stored, 1 January 1980, checksum, both sizes, length of the name.
    const entry = Buffer.alloc(26)
    entry.writeUInt16LE(20, 0)
    entry.writeUInt16LE(33, 8)
    entry.writeUInt32LE(crc32(content), 10)
    entry.writeUInt32LE(content.length, 14)
    entry.writeUInt32LE(content.length, 18)
    entry.writeUInt16LE(name.length, 22)
    // Made on Unix; a regular file that everybody may read.
    const place = Buffer.alloc(14)
    place.writeUInt32LE(0o100644 * 0x10000, 6)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), entry, place, name)
    const local = [Buffer.from('PK\x03\x04', 'latin1'), entry, name, content]
    parts.push(...local)
    offset += local.reduce((sum, part) => sum + part.length, 0)
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(files.size, 8)
  end.writeUInt16LE(files.size, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, ...directory, end])
}
