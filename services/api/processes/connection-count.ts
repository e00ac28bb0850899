import type { ConnectionLimits } from '../http/server.ts'

/** Counts the connections of all processes together. */
export interface ConnectionCount {
  /** full: the machine has all that it may have; greedy: this address has. Neither is counted. */
  enter(address: string): 'in' | 'full' | 'greedy'
  leave(address: string): void
}

export function createConnectionCount(limits: ConnectionLimits): ConnectionCount {
  const addresses = new Map<string, number>()
  let total = 0
  return {
    enter(address) {
      if (total >= limits.total) return 'full'
      const count = (addresses.get(address) ?? 0) + 1
      if (count > limits.perAddress) return 'greedy'
      addresses.set(address, count)
      total++
      return 'in'
    },
    leave(address) {
      const left = (addresses.get(address) ?? 1) - 1
      if (left === 0) addresses.delete(address)
      else addresses.set(address, left)
      total--
    },
  }
}
