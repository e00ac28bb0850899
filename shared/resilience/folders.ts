import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { withTimeLimit } from './time-limit.ts'

/** ms. The file system of another machine that is away may never answer. */
const FOLDER_MS = 5_000
/** By folder: a question that has no answer yet. */
const asked = new Map<string, Promise<boolean>>()

/**
 * Whether a folder answers. Another process asks, because a call that hangs would take a thread of
 * this process for good, and this process could not even end.
 */
export function folderAnswers(folder: string): Promise<boolean> {
  const answer = asked.get(folder) ?? ask(folder)
  asked.set(folder, answer)
  return withTimeLimit(answer, FOLDER_MS, () => false)
}

async function ask(folder: string): Promise<boolean> {
  const limit = { timeout: FOLDER_MS, killSignal: 'SIGKILL' } as const
  const child = spawn('ls', ['-f', '--', `${folder}/.`], { stdio: 'ignore', ...limit })
  child.unref()
  // Without `ls`, this process asks by itself.
  const [, signal] = await once(child, 'exit').catch(() => [0, null])
  asked.delete(folder)
  return signal === null
}
