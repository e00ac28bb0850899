import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeImport } from '#test/faults/site/site-article'
import { runScript } from '#test/fleet'

/** Imports articles in parts, each until the command says that it has all of it. */
export interface Importer {
  /** Runs of the command, and those of them that failed. */
  runs: { all: number; failed: number }
  /** Articles of the parts that were begun. */
  count(): number
  /** Ends with the part in hand. */
  stop(): Promise<void>
}

const PART = 100
const PARTS = 40

/** @param env of the command; articles are promised an embedding for a later day */
export function startImporter(seed: number, folder: string, env: NodeJS.ProcessEnv): Importer {
  const lines = writeImport(seed, PART * PARTS)
    .trimEnd()
    .split('\n')
  const runs = { all: 0, failed: 0 }
  let part = 0
  let stopping = false
  const importing = work()

  async function work(): Promise<void> {
    while (!stopping && part < PARTS) {
      const file = join(folder, `articles-${part}.ndjson`)
      await writeFile(file, `${lines.slice(part * PART, (part + 1) * PART).join('\n')}\n`)
      part += 1
      while (!(await importOnce(file))) runs.failed += 1
    }
  }
  async function importOnce(file: string): Promise<boolean> {
    runs.all += 1
    return runScript({ ...env, EMBED_DELAY: '30d' }, 'import', file).then(
      () => true,
      () => false,
    )
  }

  return {
    runs,
    count: () => part * PART,
    async stop() {
      stopping = true
      await importing
    },
  }
}
