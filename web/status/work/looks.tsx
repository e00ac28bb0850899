import type { FlowFigures } from '../../../services/api/status/figures.ts'
import { number, plural } from '../numbers.ts'

/** Looks at pages whose articles are there, and what they found in the last day. */
export function Looks({ looks }: { looks: FlowFigures['looks'] | null }) {
  if (looks === null) return <p class="hint">Could not be read.</p>
  const { planned, due, compare, changed, gone } = looks
  return (
    <>
      <p>
        In the last day {plural(changed, 'page')} changed and {number(gone)} {gone === 1 ? 'is' : 'are'} gone.
      </p>
      <p class="hint">
        {plural(due, 'look')} due, {number(planned)} later, {plural(compare, 'version')} to compare. Articles stay as
        they are.
      </p>
    </>
  )
}
