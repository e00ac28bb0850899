import { quantile } from '../measure.ts'
import type { ApiProcess } from './api.ts'
import { load } from './load.ts'

/** A form in which clients ask for the same pages. */
interface Form {
  name: string
  operation: '/v1/articles' | '/v1/articles.rss'
  encoding: string | null
}

const FORMS: Form[] = [
  { name: 'json', operation: '/v1/articles', encoding: null },
  { name: 'rss', operation: '/v1/articles.rss', encoding: null },
  { name: 'json_br', operation: '/v1/articles', encoding: 'br' },
  { name: 'rss_br', operation: '/v1/articles.rss', encoding: 'br' },
  { name: 'json_gzip', operation: '/v1/articles', encoding: 'gzip' },
  { name: 'rss_gzip', operation: '/v1/articles.rss', encoding: 'gzip' },
]
const CONNECTIONS = 8
const ROUNDS = 3

/** The means to ask a running API. */
export interface Asked {
  api: ApiProcess
  /** Of the JSON operation. */
  paths: string[]
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * JSON beside RSS, with and without compression: requests a second, and processor time of a
 * request. The forms take turns, so that the noise of the machine meets all. The first round is
 * that of pages that nobody asked for in this form yet; the others find their bytes kept.
 */
export async function measureForms(
  asked: Asked,
  key: string,
): Promise<{ figures: Record<string, number>; failures: number }> {
  const rounds = new Map(FORMS.map(form => [form.name, [] as Round[]]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const form of FORMS) rounds.get(form.name)?.push(await ask(asked, key, form))
  }
  const figures: Record<string, number> = {}
  let failures = 0
  for (const [name, [first, ...kept]] of rounds) {
    if (first === undefined) continue
    failures += [first, ...kept].reduce((sum, round) => sum + round.failures, 0)
    figures[`${name}_first_cpu_ms`] = rounded(first.cpu)
    figures[`${name}_cpu_ms`] = rounded(median(kept.map(round => round.cpu)))
    figures[`${name}_per_s`] = rounded(median(kept.map(round => round.perSecond)))
    asked.say(
      `${name}: ${figures[`${name}_cpu_ms`]} ms of processor time a request, ${figures[`${name}_first_cpu_ms`]} the first time; ${figures[`${name}_per_s`]} requests/s`,
    )
  }
  return { figures: { ...figures, ...ratios(figures) }, failures }
}

interface Round {
  /** ms a request */
  cpu: number
  perSecond: number
  failures: number
}

async function ask({ api, paths, signal }: Asked, key: string, { operation, encoding }: Form): Promise<Round> {
  const headers: Record<string, string> = encoding === null ? {} : { 'accept-encoding': encoding }
  const own = paths.map(path => ({ path: path.replace('/v1/articles', operation), headers }))
  const { cpu } = await api.usage()
  const { perSecond, failures } = await load(api.base, key, own, CONNECTIONS, { requests: own.length }, signal)
  return { cpu: (((await api.usage()).cpu - cpu) * 1_000) / own.length, perSecond, failures }
}

/** RSS by JSON: of processor time, and of the time between two answers. */
function ratios(figures: Record<string, number>): Record<string, number> {
  const found: Record<string, number> = {}
  for (const suffix of ['', '_br', '_gzip']) {
    const figure = (form: string, kind: string) => figures[`${form}${suffix}_${kind}`] ?? Number.NaN
    found[`rss_by_json${suffix}_cpu`] = rounded(figure('rss', 'cpu_ms') / figure('json', 'cpu_ms'))
    found[`rss_by_json${suffix}_time`] = rounded(figure('json', 'per_s') / figure('rss', 'per_s'))
  }
  return found
}

const median = (values: number[]) => quantile(values, 0.5)
const rounded = (value: number) => Math.round(value * 1_000) / 1_000
