import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'

const run = promisify(execFile)
const HERE = fileURLToPath(new URL('.', import.meta.url))

const BUILDS = { typescript: buildTarball, python: buildWheel }
export type Package = keyof typeof BUILDS

/**
 * Builds packages into a folder, without a network: what `npm install` and `pip install` take.
 *
 * @returns the paths of the files
 */
export async function buildPackages(
  folder: string,
  signal: AbortSignal,
  packages: readonly Package[] = ['typescript', 'python'],
): Promise<string[]> {
  const to = resolve(folder)
  await mkdir(to, { recursive: true })
  const built: string[] = []
  for (const name of packages) built.push(join(to, await BUILDS[name](to, signal)))
  return built
}

/** What `npm pack` makes of a copy, so that building leaves nothing in the checkout. */
async function buildTarball(to: string, signal: AbortSignal): Promise<string> {
  const project = join(HERE, 'typescript')
  const copy = await mkdtemp(join(tmpdir(), 'perscope-client-'))
  try {
    await cp(project, copy, { recursive: true })
    const tsc = join(HERE, '../node_modules/.bin/tsc')
    await run(tsc, ['-p', project, '--outDir', join(copy, 'dist')], { signal })
    const { stdout } = await run('npm', ['pack', '--silent', '--offline', '--pack-destination', to, copy], { signal })
    return stdout.trim()
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** A wheel is a ZIP archive of the sources and of three files that describe them (PEP 427). */
async function buildWheel(to: string): Promise<string> {
  const project = join(HERE, 'python')
  const settings = await readFile(join(project, 'pyproject.toml'), 'utf8')
  const setting = (name: string) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(settings)?.[1] ?? ''
  const list = (name: string) => JSON.parse(new RegExp(`^${name} = (\\[.*\\])$`, 'm').exec(settings)?.[1] ?? '[]')
  const info = `perscope-${setting('version')}.dist-info`
  const sources = join(project, 'src/perscope')
  const files = new Map<string, Buffer>()
  for (const name of (await readdir(sources)).filter(name => /\.(py|typed)$/.test(name)).sort()) {
    files.set(`perscope/${name}`, await readFile(join(sources, name)))
  }
  const metadata = [
    ...['Metadata-Version: 2.1', 'Name: perscope', `Version: ${setting('version')}`],
    ...[`Summary: ${setting('description')}`, `Requires-Python: ${setting('requires-python')}`],
    ...list('dependencies').map((one: string) => `Requires-Dist: ${one}`),
    ...['Provides-Extra: pandas', ...list('pandas').map((one: string) => `Requires-Dist: ${one}; extra == "pandas"`)],
    ...['Description-Content-Type: text/markdown', '', await readFile(join(project, 'README.md'), 'utf8')],
  ]
  files.set(`${info}/METADATA`, Buffer.from(metadata.join('\n')))
  files.set(
    `${info}/WHEEL`,
    Buffer.from('Wheel-Version: 1.0\nGenerator: perscope\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
  )
  const sums = [...files].map(
    ([name, content]) => `${name},sha256=${createHash('sha256').update(content).digest('base64url')},${content.length}`,
  )
  files.set(`${info}/RECORD`, Buffer.from(`${sums.join('\n')}\n${info}/RECORD,,\n`))
  const file = `perscope-${setting('version')}-py3-none-any.whl`
  await writeFile(join(to, file), zipOf(files))
  return file
}

/** A ZIP archive without compression, with one date for all files, so that equal files are equal. */
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
    // Made on Unix; a regular file that all may read.
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
