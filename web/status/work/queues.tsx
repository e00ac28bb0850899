import type { QueueCounts } from '../../../shared/status/figures.ts'
import { number } from '../numbers.ts'

const ABOUT = new Map([
  ['visit', 'hosts to visit'],
  ['normalise', 'pages to normalise'],
  ['embed', 'articles to embed'],
])
const STATES = ['waiting', 'active', 'delayed', 'failed'] as const

export function QueueTable({ queues }: { queues: Record<string, QueueCounts> | null }) {
  if (queues === null) return <p class="hint">Could not be read.</p>
  return (
    <table class="counts-table">
      <thead>
        <tr>
          <th scope="col">Queue</th>
          {STATES.map(state => (
            <th key={state} scope="col">
              {state}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Object.entries(queues).map(([name, counts]) => (
          <tr key={name}>
            <th scope="row">
              {name} <small>{ABOUT.get(name)}</small>
            </th>
            {STATES.map(state => (
              <td key={state} class={counts[state] === 0 ? 'zero' : ''}>
                {number(counts[state])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
