import { type ChildProcess, fork } from 'node:child_process'
import { on } from 'node:events'
import { BATCH } from '../../search/indexing/writer.ts'
import type { Asked, Asking, Job, Making, Minute, Written } from './messages.ts'

/** A process that asks. */
export interface Asker {
  /** @param told of each minute when it is over */
  ask(asking: Asking, told?: (minute: Minute) => void): Promise<Minute[]>
  end(): void
}

export async function startAsker(signal: AbortSignal): Promise<Asker> {
  const child = await start<Minute | Asked>(new URL('./asker.ts', import.meta.url), [], signal)
  return {
    async ask(asking, told = () => {}) {
      const minutes: Minute[] = []
      child.send(asking)
      for (;;) {
        const said = await child.next()
        if ('seconds' in said) return minutes
        minutes.push(said)
        told(said)
      }
    },
    end: child.end,
  }
}

/** A process that writes as a normaliser does. */
export interface Writer {
  /** Makes the articles of a job, so that the job need not. */
  make(job: Job): Promise<void>
  write(job: Job): Promise<Written>
  end(): void
}

export async function startWriter(url: string, rows: number, signal: AbortSignal): Promise<Writer> {
  const child = await start<Written>(new URL('./writer.ts', import.meta.url), [url, String(rows)], signal)
  return {
    async make(job) {
      const articles = Math.ceil((job.perSecond ?? 0) * job.seconds) + BATCH
      child.send({ from: job.from, articles } satisfies Making)
      await child.next()
    },
    write(job) {
      child.send(job)
      return child.next()
    },
    end: child.end,
  }
}

interface Child<T> {
  send(order: Job | Making | Asking): void
  /** The next message, in the order in which they were sent. */
  next(): Promise<T>
  end(): void
}

/** Starts a program and waits for its first message. */
async function start<T>(program: URL, args: string[], signal: AbortSignal): Promise<Child<T>> {
  const child: ChildProcess = fork(program, args)
  const ended = new AbortController()
  child.once('exit', () => ended.abort(new Error('A process of the bench ended before it was done.')))
  signal.addEventListener('abort', () => child.kill(), { once: true })
  const messages = on(child, 'message', { signal: ended.signal })
  const next = async (): Promise<T> => {
    const { value } = await messages.next().catch(() => Promise.reject(ended.signal.reason))
    return value?.[0]
  }
  await next()
  return { send: order => void child.send(order), next, end: () => void child.kill() }
}
