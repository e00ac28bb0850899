import { createFleet, type Fleet, freePort } from '../fleet.ts'

/** API processes that serve the same database. */
export interface Apis {
  bases: string[]
  /** Statements of searches by the server that answered, of all of them. */
  statements(): Promise<{ primary: number; standby: number }>
  stop(): Promise<void>
}

/** Starts API processes, one after another, and waits until each is warm. */
export async function startApis(count: number, env: Record<string, string>): Promise<Apis> {
  const started: { fleet: Fleet; metrics: number }[] = []
  for (let number = 0; number < count; number++) {
    const metrics = await freePort()
    const fleet = createFleet({ LOG_LEVEL: 'warn', WEB_CONCURRENCY: '1', ...env, METRICS_PORT: String(metrics) })
    await fleet.start('api')
    started.push({ fleet, metrics })
  }
  const sumOf = async (server: string) => {
    let sum = 0
    for (const { metrics } of started) {
      const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
      const figure = new RegExp(`^perscope_read_statements_total\\{[^}]*server="${server}"[^}]*\\} (\\d+)$`, 'm')
      sum += Number(figure.exec(text)?.[1] ?? 0)
    }
    return sum
  }
  return {
    bases: started.map(({ fleet }) => fleet.base()),
    statements: async () => ({ primary: await sumOf('primary'), standby: await sumOf('standby') }),
    async stop() {
      for (const { fleet } of started) await fleet.stop()
    },
  }
}
