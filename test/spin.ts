import { once } from 'node:events'
import { until } from './fleet.ts'

/**
 * Lets the event loop of a running Node process compute without an end, by the runtime's own means:
 * the inspector, which SIGUSR1 opens. The process needs `INSPECTOR_ON_ANY_PORT` in its environment.
 *
 * @param log what the process has written to standard error
 */
export async function spin(pid: number, log: () => string): Promise<void> {
  const addresses = () =>
    [...log().matchAll(/^Debugger listening on (ws:\S+)$/gm)].map(([, address = '']) => address)
  const before = addresses().length
  process.kill(pid, 'SIGUSR1')
  await until(
    () => addresses().length > before,
    60_000,
    () => `process ${pid} opens no inspector`,
  )
  // The process opens its own first; then a primary of `node:cluster` has the others open theirs.
  const socket = new WebSocket(addresses()[before] ?? '')
  await once(socket, 'open')
  const expression = 'setTimeout(function spin() { for (;;) {} }, 0)'
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }))
  await once(socket, 'message')
  socket.close()
}

/** Several processes on one machine cannot all have the inspector's own port. */
export const INSPECTOR_ON_ANY_PORT = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' }
