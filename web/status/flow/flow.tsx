import type { Figures } from '../../../shared/status/figures.ts'
import { number } from '../numbers.ts'
import { type State, type Step, stepsOf } from './steps.ts'

const WORDS: Record<State, string> = {
  good: 'running',
  warn: 'needs attention',
  bad: 'not there',
  unknown: 'not known',
}

/**
 * The way of an article: services are boxes with a light, stores are drums. The style draws them
 * from left to right, or on a narrow screen from top to bottom.
 */
export function Flow({ figures }: { figures: Figures }) {
  return (
    <ol class="flow">
      {stepsOf(figures).map(step => (
        <Place key={step.name} step={step} />
      ))}
    </ol>
  )
}

function Place({ step: { name, state, value, unit, note, moves } }: { step: Step }) {
  return (
    <li class={`step ${state ?? 'store'} ${moves ? 'moves' : ''}`}>
      <h3>{name}</h3>
      {state && <p class={state === 'good' ? 'state unseen' : 'state'}>{WORDS[state]}</p>}
      <p class="value">{value === null ? '–' : number(value)}</p>
      <p class="unit">{unit}</p>
      <p class="note">{note}</p>
    </li>
  )
}
