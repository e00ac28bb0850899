import { availableParallelism } from 'node:os'

/** Each process holds connections to Postgres and memory of its own. */
const MOST_BY_ITSELF = 8

/** WEB_CONCURRENCY, where 0 stands for the cores that this machine or container has. */
export const numberOfProcesses = (setting: number): number =>
  setting === 0 ? Math.min(availableParallelism(), MOST_BY_ITSELF) : setting
