import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** The registry of this process; every metric of Perscope is made here or with `registers: [registry]`. */
export const registry = new Registry()

/** Turns on the metrics of the process itself (memory, event loop, garbage collection). */
export function observeProcess(service: string): void {
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })
}

/** A counter named `perscope_…`. */
export function counter<L extends string>(name: string, help: string, labelNames: L[] = []): Counter<L> {
  return new Counter({ name: `perscope_${name}`, help, labelNames, registers: [registry] })
}

/** A histogram named `perscope_…`, in seconds unless its name says otherwise. */
export function histogram<L extends string>(
  name: string,
  help: string,
  buckets: number[],
  labelNames: L[] = [],
): Histogram<L> {
  return new Histogram({ name: `perscope_${name}`, help, buckets, labelNames, registers: [registry] })
}
