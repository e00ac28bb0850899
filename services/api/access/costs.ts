import { ApiError } from '#services/api/contract/errors'

/*
 * What a request costs of its minute beyond one. A request of one costs the API a few milliseconds
 * of processor time, and so does each further one. The costs depend on what is asked and on the
 * articles that it sees, never on what a process keeps, or on how long the work takes.
 */

/** One more of the minute for each of these many; `/explore/limits` and `docs/explore.md` tell. */
export const COSTS = {
  /** Articles that have both sides of NEAR, times the words and phrases beside it. */
  near: 1_000,
  /** Searches of `POST /explore/searches/new`, or that name a set of outlets which is put. */
  searches: 10,
  /** Domains of sets of outlets that are listed or put. */
  domains: 100,
  /** Bytes of the texts that `/explore/copies` compares. */
  bytes: 100_000,
  /** Articles of a citation, when it is made and in its files. */
  cited: 100,
} as const

/**
 * Takes more requests from the minute of the key, before work that costs them. A request never
 * costs more than the whole minute.
 *
 * @throws ApiError `rate_limit_exceeded`
 */
export type Pay = (more: number) => Promise<void>

export const tooDear = (more: number, seconds: number): ApiError =>
  new ApiError('rate_limit_exceeded', {
    message: `This request costs ${more + 1} of the minute, and fewer are left; see /explore/limits.`,
    headers: { 'Retry-After': String(seconds) },
  })
