import { chmod, cp, lstat, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Owner, ownerCan } from './owner.ts'

/**
 * A folder with a package's programs that `owner` can run. It is the package's own folder, or a
 * copy under `DATA_DIR` when `owner` cannot read that: only root can enter a checkout below /root.
 *
 * @param parts a file of each folder of the package, to test whether `owner` can read it; the first
 * is a program
 * @param version the name of the copy, so that an upgrade makes a new one
 */
export async function openPrograms(
  folder: string,
  parts: readonly string[],
  version: string,
  dataDir: string,
  owner: Owner | null,
): Promise<string> {
  if (owner === null || (await isOpen(folder, parts, owner))) return folder
  const copy = join(dataDir, 'programs', version)
  if (await isOpen(copy, parts, owner)) return copy
  const aside = `${copy}.${process.pid}.new`
  await cp(folder, aside, { recursive: true, verbatimSymlinks: true })
  await openToAll(aside)
  await rm(copy, { recursive: true, force: true })
  await rename(aside, copy)
  await openToAll(join(dataDir, 'programs'), false)
  return copy
}

async function isOpen(folder: string, parts: readonly string[], owner: Owner): Promise<boolean> {
  for (const [index, part] of parts.entries()) {
    if (!(await ownerCan(owner, index === 0 ? '-x' : '-r', join(folder, part)))) return false
  }
  return true
}

/** `chmod a+rX`, or `chmod -R a+rX` unless `deep` is false. */
async function openToAll(path: string, deep = true): Promise<void> {
  const state = await lstat(path)
  if (state.isSymbolicLink()) return
  const forAll = state.isDirectory() || state.mode & 0o100 ? 0o555 : 0o444
  await chmod(path, state.mode | forAll)
  if (!deep || !state.isDirectory()) return
  for (const name of await readdir(path)) await openToAll(join(path, name))
}
