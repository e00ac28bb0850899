import { render } from 'preact'
import { loadSpeech, SpeechContext } from '../words/index.ts'
import { Status } from './status.tsx'
import '../parts/base.css'
import './status.css'

const place = document.getElementById('page')
// In English alone: operators read the same terms in logs, metrics, alerts and docs/operations.md.
const speech = await loadSpeech('en')
if (place !== null) {
  render(
    <SpeechContext.Provider value={speech}>
      <Status />
    </SpeechContext.Provider>,
    place,
  )
}
