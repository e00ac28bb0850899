import t from 'tap'
import { startTestApi } from './api.ts'

const api = await startTestApi(t)

t.test('the link of an invitation of a former version says what to do', async t => {
  const former = await api.ask(null, `/confirm/${'a'.repeat(59)}`)
  t.match(former, { status: 200, text: /has ended with an update.* have the alert set again/ })
  t.equal((await api.ask(null, `/confirm/${'a'.repeat(75)}`)).status, 404, 'a forged one')
})
