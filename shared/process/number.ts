/** The variable by which a primary tells its processes their numbers. */
export const PROCESS_NUMBER = 'PERSCOPE_PROCESS'

/** Set for a process of a service that others serve already. */
export const PROCESS_JOINS = 'PERSCOPE_JOINS'

/** Whether other processes behind the same port answer requests already. */
export const joinsOthers = () => process.connected && process.env[PROCESS_JOINS] !== undefined

/**
 * The number of this process among those that share a service behind one port. null: the process
 * runs the service by itself, or is the primary.
 */
export const processNumber = (): string | null => (process.connected ? (process.env[PROCESS_NUMBER] ?? null) : null)
