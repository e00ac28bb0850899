import type { Failure } from '../../parts/request.ts'
import { wait } from '../../parts/time.ts'
import { useSpeech } from '../../words/index.ts'

/** Figures that did not come: a line, because the results say what is wrong at length. */
export function CountFailure({ failure, onAgain }: { failure: Failure; onAgain(): void }) {
  const speech = useSpeech()
  const { words } = speech
  return (
    <p class="hint" role="status">
      {words.insights.failed} {failure.retryAfter !== null && `${words.failure.in(wait(failure.retryAfter, speech))}. `}
      <button type="button" class="link" onClick={onAgain}>
        {words.failure.again}
      </button>
    </p>
  )
}
