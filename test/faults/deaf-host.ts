import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'

/** Listens with the shortest queue, says its port, and stops: nobody accepts a connection. */
const LISTENER = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write(server.address().port + '\\n', () => process.kill(process.pid, 'SIGSTOP'))
  })`

/** ms in which loopback answers a connection, if it does at all. */
const AT_ONCE = 500
/** More connections than the queue holds. */
const MOST = 16

/**
 * A host that answers no SYN, as one that vanished: a listening socket whose queue is full. Linux
 * drops what comes then.
 */
export async function openDeafHost(test: Pick<Test, 'teardown'>): Promise<{ port: number }> {
  const child = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const sockets: Socket[] = []
  test.teardown(() => {
    for (const socket of sockets) socket.destroy()
    child.kill('SIGKILL')
  })
  const [said] = await once(child.stdout, 'data')
  const port = Number(String(said))
  for (let tried = 0; tried < MOST; tried++) {
    const socket = createConnection(port, '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
    const connected = await Promise.race([
      once(socket, 'connect').then(() => true),
      pause(AT_ONCE).then(() => false),
    ])
    if (!connected) return { port }
  }
  throw new Error(`The host at port ${port} still accepts after ${MOST} connections.`)
}
