import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../../shared/config/config.ts'
import type { Missing } from '../../../shared/process/health.ts'
import { PROCESS_JOINS, PROCESS_NUMBER } from '../../../shared/process/number.ts'
import { isReport, type Order, type Question } from './messages.ts'
import type { Taker } from './seat.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))
/** ms that a process may take to answer a question of the primary. */
const ANSWER_TIMEOUT = 2_000

/** One of the processes that serve the port. */
export interface ApiProcess extends Taker {
  number: string
  /** Resolves when it can answer requests, or has ended: false. */
  ready: Promise<boolean>
  /** Resolves when it has read ahead, or has ended: false. */
  warm: Promise<boolean>
  /** Resolves with how it ended. */
  ended: Promise<Ending>
  /** null: it does not answer. */
  metrics(): Promise<string | null>
  missing(): Promise<Missing | null>
  retire(): void
  end(): void
  kill(): void
}

export interface Ending {
  code: number | null
  /** As it stands in sentences: "ended with code 1". */
  how: string
  /** ms that it lived. */
  age: number
}

export interface Listeners {
  took(one: ApiProcess): void
  closed(one: ApiProcess, id: number): void
}

/**
 * Starts a process of the API. It inherits our environment, with the keys that only root could
 * read.
 *
 * @param number of this process, from 1
 * @param count of all processes, that share limits and caches
 * @param joins whether others answer requests already
 */
export function startProcess(
  number: string,
  { count, joins }: { count: number; joins: boolean },
  config: Config,
  listeners: Listeners,
): ApiProcess {
  const began = performance.now()
  const child = fork(MAIN, [], {
    env: {
      ...process.env,
      [PROCESS_NUMBER]: number,
      ...(joins ? { [PROCESS_JOINS]: '1' } : {}),
      PERSCOPE_BOOTSTRAP: String(process.pid),
      WEB_CONCURRENCY: String(count),
      QDRANT_API_KEY: config.QDRANT_API_KEY,
      EMBEDDINGS_API_KEY: config.EMBEDDINGS_API_KEY,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ready = Promise.withResolvers<boolean>()
  const warm = Promise.withResolvers<boolean>()
  const ended = new Promise<Ending>(resolve => {
    const end = (code: number | null, how: string) => {
      ready.resolve(false)
      warm.resolve(false)
      resolve({ code, how, age: performance.now() - began })
    }
    child.once('error', error => end(null, error.message))
    child.once('exit', (code, signal) => end(code, signal ? `ended by ${signal}` : `ended with code ${code}`))
  })
  const questions = createQuestions(child)
  child.on('message', (message: unknown) => {
    if (!isReport(message)) return
    if (message.kind === 'ready') ready.resolve(true)
    else if (message.kind === 'warm') warm.resolve(true)
    else if (message.kind === 'took') listeners.took(one)
    else if (message.kind === 'closed') listeners.closed(one, message.id)
    else questions.answered(message.id, message.kind === 'metrics' ? message.text : message.missing)
  })
  const one: ApiProcess = {
    number,
    ready: ready.promise,
    warm: warm.promise,
    ended,
    hand(id, socket) {
      const order: Order = { kind: 'connection', id }
      // Our copy stays open until the process has taken it: when it ends before that, another
      // process gets the connection. (Without the copy, Node would never close a connection that
      // was on its way to a process that ended.)
      if (child.connected) child.send(order, socket, { keepOpen: true }, () => {})
    },
    makeRoom: () => tell(child, { kind: 'room' }),
    async metrics() {
      const text = await questions.ask('metrics')
      return typeof text === 'string' ? text : null
    },
    async missing() {
      const missing = await questions.ask('missing')
      return typeof missing === 'string' ? null : missing
    },
    retire: () => tell(child, { kind: 'retire' }),
    end: () => tell(child, { kind: 'end' }),
    kill: () => void child.kill('SIGKILL'),
  }
  return one
}

function tell(child: ChildProcess, order: Order): void {
  if (child.connected) child.send(order, undefined, undefined, () => {})
}

/** Questions to a process. One that does not answer in its time, or has ended, answers null. */
function createQuestions(child: ChildProcess) {
  const open = new Map<number, (answer: string | Missing | null) => void>()
  let last = 0
  return {
    answered(id: number, answer: string | Missing): void {
      open.get(id)?.(answer)
    },
    ask(question: Question): Promise<string | Missing | null> {
      const id = ++last
      return new Promise(resolve => {
        const done = (answer: string | Missing | null) => {
          clearTimeout(late)
          open.delete(id)
          resolve(answer)
        }
        const late = setTimeout(done, ANSWER_TIMEOUT, null)
        open.set(id, done)
        if (child.connected) tell(child, { kind: 'ask', question, id })
        else done(null)
      })
    },
  }
}
