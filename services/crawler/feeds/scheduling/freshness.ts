/**
 * ms for which an answer stays fresh by its own statement (RFC 9111 §4.2): `max-age` less the time
 * that a cache has held it. 0: the answer does not say, or must not be kept.
 *
 * `s-maxage` speaks to caches between the outlet and its readers, and `Expires` is mostly a date
 * that a template wrote, so neither counts.
 */
export function freshFor(headers: Record<string, string>): number {
  const directives = (headers['cache-control'] ?? '').slice(0, LONGEST_HEADER).toLowerCase().split(',')
  const values = new Map(
    directives.map(directive => {
      const [name = '', value = ''] = directive.split('=')
      return [name.trim(), value.trim().replace(/^"|"$/g, '')]
    }),
  )
  if (values.has('no-cache') || values.has('no-store')) return 0
  return Math.max(0, secondsOf(values.get('max-age')) - secondsOf(headers.age)) * 1_000
}

const LONGEST_HEADER = 1_000
/** RFC 9111 §1.2.2: a larger number counts as this one. */
const MOST_SECONDS = 2 ** 31

const secondsOf = (text: string | undefined) =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Math.min(Number(text), MOST_SECONDS) : 0
