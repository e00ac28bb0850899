import { writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { setTimeout as pause } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { withTimeLimit } from '../resilience/time-limit.ts'
import { BEAT_MS, type Watch } from './event-loop.ts'

/*
 * The thread of `watchEventLoop`. The process's own streams and exit need the event loop, which
 * stands still. So the thread writes to the file descriptor, and ends the process by a signal.
 */

/**
 * ms in which the debugger must tell the place of the code. It answers at once when the loop is
 * busy with JavaScript, and never when it is inside a system call.
 */
const PLACE_MS = 2_000
/** Calls that are named, the innermost first. */
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
  say(`the event loop stood still for ${(looks * BEAT_MS) / 1_000} s${place}; the process ends itself`, calls)
  process.kill(process.pid, 'SIGKILL')
  // The kernel spares the first process of a container from its own signals.
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
    // The other end of the file descriptor is closed.
  }
}

/**
 * The functions that the loop is busy with, as `function (file:line)`. Nothing else of the program
 * is read.
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
