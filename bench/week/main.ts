import { type Figures, prefixed, quantile, rounded, say } from '#bench/figures'
import type { BenchOptions } from '#bench/main'
import { type Lived, live, presentPolicy } from './clock.ts'
import { formerPolicy } from './former.ts'
import { MINUTE, makeOutlets, START, WEEK, WEEKS } from './outlets.ts'

const PER_DAY = 20_000
/** The rule was made with seeds 1 to 3. The bench tests it with these. */
const SEEDS = [101, 102, 103]

/**
 * Simulates weeks of 400 outlets, which publish 20,000 articles a day. It compares the crawler's
 * rule for feeds with the former rule on the same weeks. Pages are fetched as fast as the crawler
 * fetches them.
 *
 * The figures are those of the first seed. Lags are in minutes, and count from the first moment at
 * which an answer could show the article. Queues are counted in pages.
 */
export async function run({ rows, signal }: BenchOptions): Promise<Figures> {
  const since = performance.now()
  const perDay = rows ?? PER_DAY
  const compare = (seed: number, newspapers: boolean) => {
    signal.throwIfAborted()
    const outlets = makeOutlets(seed, perDay, newspapers)
    const [first, figures] = figuresOf(live(outlets, presentPolicy))
    const [, former] = figuresOf(live(outlets, formerPolicy))
    say(`Seed ${seed}${newspapers ? ', newspapers alone' : ''} is done.`)
    return { first, figures, former }
  }
  const all = SEEDS.map(seed => compare(seed, false))
  const newspapers = compare(SEEDS[0]!, true)
  const [one, ...others] = all
  const speed = Math.round(((SEEDS.length + 1) * 2 * WEEKS * WEEK) / (performance.now() - since))
  return {
    speed,
    per_day: perDay,
    ...one!.figures,
    ...prefixed('former', one!.former),
    ...prefixed('first_week', one!.first),
    ...prefixed('newspapers', newspapers.figures),
    ...prefixed('newspapers_former', newspapers.former),
    ...Object.assign(
      {},
      ...others.map(({ figures }, index) => prefixed(`seed_${SEEDS[index + 1]}`, figures)),
    ),
  }
}

/** The figures of the first week and those of the last week. */
function figuresOf(lived: Lived[]): [Figures, Figures] {
  const first = lived[0]!
  const last = lived.at(-1)!
  const half = START + (WEEKS - 0.5) * WEEK
  const { articles, missed, fleeting, gaps, requests, shortestPause, due, stored } = last
  const p95 = (isPart: (published: number) => boolean) =>
    lagsOf(articles.filter(({ published }) => isPart(published))).lag_p95_min!
  return [
    { ...lagsOf(first.articles), feeds: first.requests.feeds },
    {
      published: articles.length + missed + fleeting,
      missed,
      ...lagsOf(articles),
      // If lags grow over the week, the crawler does not keep up.
      lag_first_half_p95_min: p95(published => published < half),
      lag_second_half_p95_min: p95(published => published >= half),
      missed_unseen: missed,
      missed_waiting: 0,
      missed_fleeting: fleeting,
      gaps,
      ...requests,
      due_p50: quantile([...due], 0.5),
      due_worst: quantile([...due], 1),
      stored_worst: quantile([...stored], 1),
      shortest_pause_s: rounded(shortestPause / 1_000),
    },
  ]
}

function lagsOf(articles: Lived['articles']): Figures {
  const sorted = articles.map(({ lag }) => lag / MINUTE)
  const lag = (part: number) => rounded(quantile(sorted, part))
  return {
    lag_p50_min: lag(0.5),
    lag_p95_min: lag(0.95),
    lag_p99_min: lag(0.99),
    lag_worst_min: lag(1),
  }
}
