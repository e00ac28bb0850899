import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Family } from '#infra/embedded/supervision/family'
import { runTool } from '#infra/embedded/supervision/tool'

/** The surroundings of a program that may be missing. */
export interface Reporting {
  family: Family
  signal: AbortSignal
  /** Told, in a sentence, what is left out. */
  report: (sentence: string) => void
}

/** Lucene 10 and OpenSearch 3 need it. */
const JAVA_VERSION = 21
const VERSION_MS = 20_000
const DOWNLOAD_MS = 600_000
/** Pinned, so that each run of Maven does the same. */
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:2.8:copy'

/** A file in Maven's central repository. */
export interface Artifact {
  /** `group:artifact:version`, and the type unless it is a jar. */
  coordinates: string
  /** Its name once it is copied. */
  file: string
  sha256: string
}

/**
 * The home of a JDK that is new enough: `JAVA_HOME`, else one on `PATH`, else one that Debian or
 * Temurin installed.
 *
 * @param peer the program's name, for the sentence that leaves it out where there is none
 */
export async function findJdk(peer: string, running: Reporting): Promise<string | null> {
  const { family, signal, report } = running
  const installed = await readdir('/usr/lib/jvm').catch(() => [])
  const onPath = (process.env.PATH ?? '').split(delimiter).map(folder => join(folder, '..'))
  const homes = [
    process.env.JAVA_HOME ?? '',
    ...onPath,
    ...installed.sort().map(name => `/usr/lib/jvm/${name}`),
  ]
  for (const home of homes) {
    // A JRE has no compiler.
    if (home === '' || !existsSync(join(home, 'bin', 'javac'))) continue
    const { output } = await runTool(join(home, 'bin', 'java'), ['-version'], {
      family,
      signal,
      within: VERSION_MS,
      cwd: '/',
    })
    if (Number(/version "(\d+)/.exec(output)?.[1] ?? 0) >= JAVA_VERSION) return home
  }
  report(
    `${peer} is left out: there is no JDK ${JAVA_VERSION} or newer; install one, or name one in JAVA_HOME.`,
  )
  return null
}

/**
 * Copies a file from Maven's central repository into `folder`, unless it is there, and checks it.
 *
 * @returns its path; null, with a sentence to `report`, where it cannot be had
 */
export async function fetchArtifact(
  peer: string,
  artifact: Artifact,
  folder: string,
  running: Reporting,
): Promise<string | null> {
  const { family, signal, report } = running
  const path = join(folder, artifact.file)
  if (existsSync(path)) return path
  const unchecked = join(folder, 'unchecked')
  await rm(unchecked, { recursive: true, force: true })
  await mkdir(unchecked, { recursive: true })
  try {
    report(`Getting ${artifact.coordinates} from Maven …`)
    const { code, output } = await runTool(
      'mvn',
      [
        '--quiet',
        '--batch-mode',
        COPY,
        `-Dartifact=${artifact.coordinates}`,
        `-DoutputDirectory=${unchecked}`,
      ],
      { family, signal, within: DOWNLOAD_MS, cwd: unchecked },
    )
    const copied = join(unchecked, artifact.file)
    if (code !== 0) throw new Error(/\[ERROR\] (.*)/.exec(output)?.[1] ?? 'Maven failed')
    const hash = createHash('sha256')
    await pipeline(createReadStream(copied), hash)
    if (hash.digest('hex') !== artifact.sha256)
      throw new Error(`${artifact.file} is another file than expected`)
    await rename(copied, path)
    return path
  } catch (error) {
    signal.throwIfAborted()
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const why = missing ? 'there is no mvn; "apt-get install maven" brings it' : sentence(error)
    report(`${peer} is left out: ${why}.`)
    return null
  } finally {
    await rm(unchecked, { recursive: true, force: true })
  }
}

const sentence = (error: unknown) =>
  String(error instanceof Error ? error.message : error).replace(/\.$/, '')
