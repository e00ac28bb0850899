import { hash } from 'node:crypto'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile, stop } from 'esbuild'

/*
 * esbuild makes the scripts and styles of `web/` from their sources. That takes half a second of
 * processor time. So what it made is kept beside the compiled code, where only our account writes,
 * until one of the sources changes.
 */

export const ROOT: string = fileURLToPath(new URL('../../..', import.meta.url))

/** Scripts and styles, by their names, and what esbuild tells of them. */
export interface Bundle {
  files: Map<string, Buffer>
  outputs: Metafile['outputs']
}

/** A bundle as its file holds it. */
interface Kept {
  /** By path: the digest of each source, and of the files that decide what is made of them. */
  sources: Record<string, string>
  outputs: Metafile['outputs']
  /** In base64. */
  files: Record<string, string>
}

/** They name the versions of packages, what stands behind `#…`, and esbuild's options. */
const DECIDING = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'web/tsconfig.json',
  'services/api/site/web.ts',
]

/**
 * The bundle of these options: what an earlier process made of the same sources, or a new one.
 *
 * @param folder where bundles are kept; absent: none is kept
 * @throws when a source is wrong, or esbuild's program is not installed for this platform
 */
export async function bundleOf(options: BuildOptions, folder?: string): Promise<Bundle> {
  if (folder === undefined) return make(options)
  const file = join(folder, 'pages.json')
  const kept = await readKept(file).catch(() => null)
  if (kept !== null) return kept
  const made = await make(options)
  await keep(file, made).catch(() => {})
  return made
}

/** A new bundle. */
interface Made extends Bundle {
  /** Paths of its sources. */
  inputs: string[]
  /** When it was begun, ms since 1970. */
  begun: number
}

async function make(options: BuildOptions): Promise<Made> {
  const begun = Date.now()
  try {
    const built = await build({ ...options, absWorkingDir: ROOT, write: false, metafile: true })
    const { inputs, outputs } = built.metafile
    return {
      files: new Map(built.outputFiles.map(one => [one.path, Buffer.from(one.contents)])),
      outputs,
      inputs: Object.keys(inputs),
      begun,
    }
  } finally {
    // Otherwise esbuild's process would stay for further builds.
    await stop()
  }
}

async function readKept(file: string): Promise<Bundle | null> {
  const { sources, outputs, files }: Kept = JSON.parse(await readFile(file, 'utf8'))
  const now = await digestsOf(Object.keys(sources))
  if (Object.entries(sources).some(([path, digest]) => now[path] !== digest)) return null
  const bytes = Object.entries(files).map(
    ([path, base64]) => [path, Buffer.from(base64, 'base64')] as const,
  )
  return { files: new Map(bytes), outputs }
}

/** Writes the file beside its place first, so that no other process reads a part of it. */
async function keep(file: string, { files, outputs, inputs, begun }: Made): Promise<void> {
  const paths = [...inputs, ...DECIDING]
  const sources = await digestsOf(paths)
  // Of a source that changed meanwhile, the digest is not that of what esbuild read.
  const changed = paths.map(async path => (await stat(join(ROOT, path))).mtimeMs)
  const times = await Promise.allSettled(changed)
  if (times.some(one => one.status === 'fulfilled' && one.value >= begun)) return
  const kept: Kept = {
    sources,
    outputs,
    files: Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString('base64')])),
  }
  const beside = `${file}.${process.pid}`
  try {
    await writeFile(beside, JSON.stringify(kept), { mode: 0o600, flag: 'wx' })
    await rename(beside, file)
  } finally {
    await rm(beside, { force: true })
  }
}

/** A missing file counts as an empty one: an image has no `tsconfig.json`. */
async function digestsOf(paths: string[]): Promise<Record<string, string>> {
  const digests = paths.map(async path => {
    const source = await readFile(join(ROOT, path)).catch(() => '')
    return [path, hash('sha256', source, 'base64url')] as const
  })
  return Object.fromEntries(await Promise.all(digests))
}
