import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { withTimeLimit } from './time-limit.ts'

/** ms. The file system of another machine that is away may never answer. */
const FOLDER_MS = 5_000
/** ms for a command, whose folder may be slow, and which cannot go on without it. */
export const COMMAND_FOLDER_MS = 20_000
/** By folder: a question that has no answer yet. */
const asked = new Map<string, Promise<boolean>>()

/**
 * Whether a folder answers. Another process asks, because a call that hangs would take a thread of
 * this process for good, and this process could not even end.
 */
export function folderAnswers(folder: string, ms: number = FOLDER_MS): Promise<boolean> {
  const answer = asked.get(folder) ?? ask(folder, ms)
  asked.set(folder, answer)
  return withTimeLimit(answer, ms, () => false)
}

async function ask(folder: string, timeout: number): Promise<boolean> {
  const limit = { timeout, killSignal: 'SIGKILL' } as const
  const child = spawn('ls', ['-f', '--', `${folder}/.`], { stdio: 'ignore', ...limit })
  child.unref()
  // Without `ls`, this process asks by itself.
  const [, signal] = await once(child, 'exit').catch(() => [0, null])
  asked.delete(folder)
  return signal === null
}
