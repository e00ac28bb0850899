import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type Artifact, fetchArtifact, findJdk, type Reporting } from '../java.ts'
import { type Owner, ownerCan } from '../owner.ts'
import { runTool } from '../supervision/tool.ts'

export const OPENSEARCH_VERSION = '3.4.0'
const UNPACK_MS = 120_000

/** The distribution without plugins. */
const ZIP: Artifact = {
  coordinates: `org.opensearch.distribution.integ-test-zip:opensearch:${OPENSEARCH_VERSION}:zip`,
  file: `opensearch-${OPENSEARCH_VERSION}.zip`,
  sha256: '6540e95fe8bfaedc3eb1c58e829912ea2203af2ac1f88f76411c20a2fc5254a6',
}

/** OpenSearch and the Java that it runs on. */
export interface InstalledOpensearch {
  home: string
  jdk: string
}

/**
 * Installs OpenSearch from Maven into the user's cache, unless it is there. Benchmarks and tests
 * use it; a system in production brings a cluster of its own.
 *
 * @param owner the account that it will run under; null: ours
 * @returns null, with a sentence to `report`, where it cannot be had
 */
export async function installOpensearch(owner: Owner | null, running: Reporting): Promise<InstalledOpensearch | null> {
  const jdk = await findJdk('OpenSearch', running)
  if (jdk === null) return null
  const folder = await cacheFolder(owner)
  const home = join(folder, `opensearch-${OPENSEARCH_VERSION}`)
  if (existsSync(home)) return { home, jdk }
  // Another process may install it at the same time; the last step decides whose it is.
  const own = await mkdtemp(join(folder, 'installing-'))
  try {
    const zip = await fetchArtifact('OpenSearch', ZIP, own, running)
    if (zip === null || !(await unpack(zip, own, jdk, running))) return null
    await rename(join(own, `opensearch-${OPENSEARCH_VERSION}`), home).catch((error: unknown) => {
      if (!existsSync(home)) throw error
    })
    return { home, jdk }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** The user's cache; the temporary folder when `owner` cannot enter that. */
async function cacheFolder(owner: Owner | null): Promise<string> {
  const user = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'perscope')
  const made = await mkdir(user, { recursive: true }).then(
    () => true,
    () => false,
  )
  if (made && (owner === null || (await ownerCan(owner, '-x', user)))) return user
  const other = join(tmpdir(), `perscope-cache-${userInfo().username}`)
  await mkdir(other, { recursive: true, mode: 0o755 })
  if (owner !== null) await chown(other, owner.uid, owner.gid)
  return other
}

/** A JDK unpacks zip files, so nothing else is needed for that. */
async function unpack(zip: string, folder: string, jdk: string, running: Reporting): Promise<boolean> {
  const { family, signal, report } = running
  const { code, output } = await runTool(join(jdk, 'bin', 'jar'), ['--extract', '--file', zip], {
    ...{ family, signal, within: UNPACK_MS, cwd: folder },
  })
  if (code !== 0) report(`OpenSearch is left out: it could not be unpacked (${output.trim().split('\n').at(-1)}).`)
  return code === 0
}
