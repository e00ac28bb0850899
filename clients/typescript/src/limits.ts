/** The counters of the plan, as the last answer had them. */
export interface Limits {
  /** Requests a minute, and those that are left of it. */
  rate: { limit: number; remaining: number }
  /** Requests a month; null for a plan without a quota. */
  quota: { limit: number; remaining: number; reset: Date; period: string } | null
}

/** Null: the answer has no counters, because no plan is known. */
export function readLimits(headers: Headers): Limits | null {
  const number = (name: string) => Number(headers.get(name))
  if (!headers.has('x-ratelimit-limit')) return null
  return {
    rate: { limit: number('x-ratelimit-limit'), remaining: number('x-ratelimit-remaining') },
    quota: headers.has('x-quota-limit')
      ? {
          limit: number('x-quota-limit'),
          remaining: number('x-quota-remaining'),
          reset: new Date(number('x-quota-reset') * 1_000),
          period: headers.get('x-quota-period') ?? '',
        }
      : null,
  }
}
