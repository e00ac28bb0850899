/** The variable by which a primary tells its processes their numbers. */
export const PROCESS_NUMBER = 'PERSCOPE_PROCESS'

/**
 * The number of this process among those that share a service behind one port. null: the process
 * runs the service by itself, or is the primary.
 */
export function processNumber(): string | null {
  return process.connected ? (process.env[PROCESS_NUMBER] ?? null) : null
}
