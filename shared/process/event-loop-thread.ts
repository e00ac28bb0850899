import { writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { setTimeout as pause } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { BEAT_MS, type Watch } from './event-loop.ts'

/*
 * The thread of `watchEventLoop`. The streams and the exit of the process need its event loop,
 * which stands still. So the thread writes to the file descriptor, and ends the process with a
 * signal.
 */

/**
 * The debugger has this many ms to tell where the code is. It answers at once when the loop runs
 * JavaScript, and never when the loop is inside a system call.
 */
const PLACE_MS = 2_000
/** How many calls the message names. The innermost comes first. */
const MOST_CALLS = 8
const STDERR = 2

const { name, number, looks, words, beats }: Watch = workerData
const counter = new Int32Array(beats)
let last = 0
let silent = 0

const timer = setInterval(() => {
  const beat = Atomics.load(counter, 0)
  silent = beat === last ? silent + 1 : 0
  last = beat
  if (silent < looks) return
  clearInterval(timer)
  void end()
}, BEAT_MS)

async function end(): Promise<void> {
  const calls = await withTimeLimit(callsInHand(), PLACE_MS, () => [])
  const place = calls.length > 0 ? ` in ${calls[0]}` : ''
  say(
    `the event loop stood still for ${(looks * BEAT_MS) / 1_000} s${place}; the process ends itself`,
    calls,
  )
  process.kill(process.pid, 'SIGKILL')
  // In a container, the kernel does not let the first process kill itself.
  await pause(BEAT_MS)
  say(
    'the process cannot end itself as process 1 of a container; start the container with an init (docker run --init)',
    [],
  )
}

function say(sentence: string, calls: string[]): void {
  const line =
    words === 'json'
      ? JSON.stringify({
          level: 'fatal',
          time: new Date().toISOString(),
          service: name,
          ...(number === null ? {} : { process: number }),
          calls,
          msg: sentence,
        })
      : `${name}: ${sentence}.`
  try {
    writeSync(STDERR, `${line}\n`)
  } catch {
    // The reader of standard error is gone.
  }
}

/**
 * The functions that the event loop is running, as `function (file:line)`. This reads no other data
 * of the program.
 */
function callsInHand(): Promise<string[]> {
  return new Promise(resolve => {
    const files = new Map<string, string>()
    const session = new Session()
    session.connectToMainThread()
    session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url))
    session.on('Debugger.paused', ({ params }) => {
      const calls = params.callFrames.slice(0, MOST_CALLS)
      resolve(
        calls.map(({ functionName, location: { scriptId, lineNumber } }) => {
          const file = files.get(scriptId) || 'a script'
          return `${functionName || 'a function'} (${file}:${lineNumber + 1})`
        }),
      )
    })
    session.post('Debugger.enable')
    session.post('Debugger.pause')
  })
}
