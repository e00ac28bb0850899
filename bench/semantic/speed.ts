import { createRandom } from '../search/generator.ts'
import { asQuery, type Client } from './client.ts'
import { type Figures, type Watched, watchShares } from './shares.ts'
import { words } from './words.ts'

const say = (line: string) => void process.stderr.write(`${line}\n`)

/** Searches of each client in a measurement of speed. */
const SEARCHES = 100
const CLIENTS = 2

/**
 * Whole requests by two clients, each with a new question, and the shares of model, vector store,
 * sets and pages in them.
 *
 * @param suffix of the figures' names
 */
export async function measureSpeed(client: Client, watched: Watched, seed: number, suffix: string): Promise<Figures> {
  const random = createRandom(seed)
  const ask = () => client.articles({ search: 'semantic', q: asQuery(words(random, 6)) })
  const shares = await watchShares(watched)
  const times: number[] = []
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let asked = 0; asked < SEARCHES; asked++) {
        const start = performance.now()
        await ask()
        times.push(performance.now() - start)
      }
    }),
  )
  const figures = { ...percentiles(times), ...(await shares(times.length)) }
  const named = Object.fromEntries(Object.entries(figures).map(([name, figure]) => [`${name}${suffix}`, figure]))
  const listed = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`)
  say(`${CLIENTS} clients${suffix.replace('_', ', ')}: ${listed.join(', ')}`)
  return named
}

function percentiles(times: number[]): Figures {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1))
  return { p50_ms: at(0.5), p95_ms: at(0.95) }
}
