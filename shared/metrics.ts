import { createRequire } from 'node:module'
import type Prom from 'prom-client'

/**
 * Loads prom-client, which takes a tenth of a second. Commands and threads share modules that have
 * metrics, and show none, so it is loaded when somebody counts or looks.
 */
const prom: () => typeof Prom = () => createRequire(import.meta.url)('prom-client')

let made: Prom.Registry | undefined
const ownRegistry = () => (made ??= new (prom().Registry)())

/** Each makes a metric that nobody has looked at yet. */
const unmade: (() => unknown)[] = []

/** The registry of this process. It has every metric of Perscope. */
export function registry(): Prom.Registry {
  for (const make of unmade.splice(0)) make()
  return ownRegistry()
}

/** @returns gives the metric, and makes it at the first call */
function later<M>(make: (client: typeof Prom, own: Prom.Registry) => M): () => M {
  let metric: M | undefined
  const get = () => (metric ??= make(prom(), ownRegistry()))
  unmade.push(get)
  return get
}

/**
 * Turns on the metrics of the process itself (memory, event loop, garbage collection).
 *
 * @param number tells processes of the same service apart; every figure has it as a label
 */
export function observeProcess(service: string, number: string | null = null): void {
  const register = registry()
  register.setDefaultLabels(number === null ? { service } : { service, process: number })
  prom().collectDefaultMetrics({ register })
}

type Labels<L extends string> = Partial<Record<L, string>>

export interface Counter<L extends string = never> {
  inc(labels?: Labels<L>, value?: number): void
  get(): ReturnType<Prom.Counter<L>['get']>
}

export interface Histogram<L extends string = never> {
  observe(labels: Labels<L>, value: number): void
  /** @returns call it at the end of what is measured */
  startTimer(): () => void
}

/** Makes a counter named `perscope_…`. */
export function counter<L extends string = never>(
  name: string,
  help: string,
  labelNames: L[] = [],
): Counter<L> {
  const get = later(
    ({ Counter }, own) =>
      new Counter({ name: `perscope_${name}`, help, labelNames, registers: [own] }),
  )
  return { inc: (labels = {}, value = 1) => get().inc(labels, value), get: () => get().get() }
}

/** Makes a histogram named `perscope_…`, in seconds unless its name has another unit. */
export function histogram<L extends string = never>(
  name: string,
  help: string,
  buckets: number[],
  labelNames: L[] = [],
): Histogram<L> {
  const get = later(
    ({ Histogram }, own) =>
      new Histogram({ name: `perscope_${name}`, help, buckets, labelNames, registers: [own] }),
  )
  return {
    observe: (labels, value) => get().observe(labels, value),
    startTimer: () => get().startTimer(),
  }
}

/**
 * Makes a gauge named `perscope_…`, whose figures are read at each scrape. If the reading fails,
 * the gauge has no figures.
 *
 * @param read several gauges may share one reading, see `shared`
 */
export function gauge<L extends string, T>(
  name: string,
  help: string,
  labelNames: L[],
  read: () => Promise<T>,
  show: (set: (labels: Partial<Record<L, string>>, value: number) => void, figures: T) => void,
): void {
  later(({ Gauge }, own) => {
    own.removeSingleMetric(`perscope_${name}`) // benchmarks run a service again in one process
    return new Gauge({
      name: `perscope_${name}`,
      help,
      labelNames,
      registers: [own],
      async collect() {
        const figures = await read().catch(() => null)
        this.reset()
        // prom-client gives a gauge without labels the value zero. This zero was not read, so it is
        // removed.
        if (labelNames.length === 0) this.remove()
        if (figures !== null)
          show((labels, value) => this.set(labels as Record<L, string>, value), figures)
      },
    })
  })
}

/** Makes a gauge without labels. @param pick gives its figure; null: there is none */
export function figure<T>(
  name: string,
  help: string,
  read: () => Promise<T>,
  pick: (figures: T) => number | null,
): void {
  gauge(name, help, [], read, (set, figures) => {
    const value = pick(figures)
    if (value !== null) set({}, value)
  })
}

/** Scrapes within this time (in ms) share one reading. */
const FRESH = 10_000

/**
 * Shares one reading between all calls within `fresh` ms, by default ten seconds. While a reading
 * is running, no second one starts, however long it takes.
 */
export function shared<T>(read: () => Promise<T>, fresh: number = FRESH): () => Promise<T> {
  let last: { until: number; reading: Promise<T>; open: boolean } | undefined
  return () => {
    if (last === undefined || (!last.open && performance.now() > last.until)) {
      const begun = { until: performance.now() + fresh, reading: read(), open: true }
      const end = () => {
        begun.open = false
      }
      begun.reading.then(end, end)
      last = begun
    }
    return last.reading
  }
}

/**
 * Buckets for delays of articles, in seconds. They reach from one second to a month, because
 * imported articles are old.
 */
export const LAG_BUCKETS: number[] = [
  1, 5, 15, 60, 180, 300, 600, 1_800, 3_600, 7_200, 10_800, 14_400, 28_800, 86_400, 259_200,
  604_800, 2_592_000,
]
