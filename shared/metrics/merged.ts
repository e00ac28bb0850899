/**
 * The metrics of several processes as one text in Prometheus' format, which allows each metric one
 * heading. The figures themselves differ by a label of their process: a sum would fall when a
 * process ends, which Prometheus would take for new counts.
 */
export function mergedMetrics(texts: string[]): string {
  const metrics = new Map<string, { heading: string; samples: string[] }>()
  for (const text of texts) {
    for (const block of text.split(/^(?=# HELP )/m)) {
      const lines = block.split('\n').filter(line => line !== '')
      const heading = lines.filter(line => line.startsWith('#'))
      const name = heading[0]?.split(' ')[2]
      if (name === undefined) continue
      const known = metrics.get(name) ?? { heading: heading.join('\n'), samples: [] }
      known.samples.push(...lines.slice(heading.length))
      metrics.set(name, known)
    }
  }
  return [...metrics.values()].map(({ heading, samples }) => `${[heading, ...samples].join('\n')}\n`).join('\n')
}
