import t from 'tap'
import { nameAsked } from '#shared/desk/alerts/consent'
import { loadAlertSecrets } from '#shared/desk/alerts/secrets'
import { changeSearch } from '#shared/desk/searches'
import { readValue } from '#shared/postgres/pool'
import { keepAlert } from '#test/alerts'
import { lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { startTestApi } from './api.ts'

const api = await startTestApi(t)

t.test('the link of an invitation of a former version says what to do', async t => {
  const former = await api.ask(null, `/confirm/${'a'.repeat(59)}`)
  t.match(former, { status: 200, text: /has ended with an update.* have the alert set again/ })
  t.equal((await api.ask(null, `/confirm/${'a'.repeat(75)}`)).status, 404, 'a forged one')
})

t.test('a page refuses the mail of a key, or all, and the same link takes it back', async t => {
  const to = 'mailto:lezer@example.org'
  const asked = (keyId: string, name: string) =>
    keepAlert(api.pool, keyId, `q=${name}`, { to, language: 'de' }, name)
  const { key } = await api.issue()
  const other = await api.issue()
  const alert = await asked(key.id, 'Bruggen www.evil.example')
  const link = `/unsubscribe/${(await loadAlertSecrets(api.pool)).ending([alert])}`
  const page = async (said: string, method = 'GET') =>
    (await api.ask(null, `${link}?language=de${said}`, { method })).text
  const first = await page('')
  t.match(first, /Bruggen ….*alert=alert_\w+"><button>Keine Mails mehr von dieser/s)
  t.match(first, /wants=nothing"><button class="other">Gar keine Mails mehr von hier/)
  t.notMatch(first, /wants=asking/)
  t.notMatch(await page('&wants=asking', 'POST'), /nach|noch einmal/, 'nothing was refused')

  t.match(await page('', 'POST'), /wants=asking"><button>Ich darf wieder gefragt werden/)
  t.equal((await asked(other.key.id, 'Sluizen')).rests, null, 'another key may ask')
  t.match(await page('&wants=nothing', 'POST'), /erhält gar keine Mails mehr von hier/)
  const third = await api.issue()
  t.match((await asked(third.key.id, 'Dijken')).rests, /wants no more/)
  await api.pool.query('delete from search_alerts')
  t.match(await page(''), /gar keine Mails mehr.*wants=asking/s, 'also when the alert is gone')
  t.match(await page('&wants=asking', 'POST'), /darf wieder gefragt werden: Wer/)
  t.equal((await asked(third.key.id, 'Polders')).rests, null)
  t.match(await page(''), /Link führt zu nichts mehr/)
})

t.test('the button agrees to what its page showed, and to nothing else', async t => {
  const { key } = await api.issue()
  const { id, searchId } = await keepAlert(api.pool, key.id, 'q=sluis', {
    to: 'mailto:kijker@example.org',
  })
  const ask = 'select message_id from alert_messages where alert_id = $1'
  const message = (await readValue<string>(api.pool, ask, [id]))!
  await nameAsked(api.pool, message, id)
  const link = `/confirm/${(await loadAlertSecrets(api.pool)).agreeing(message)}`
  const page = async (query = '', method = 'GET') =>
    (await api.ask(null, `${link}${query}`, { method })).text
  const button = (html: string) => /action="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  const before = button(await page())
  const change = (name: string, check?: () => Promise<void>) =>
    changeSearch(api.pool, key.id, searchId, { name, search: `q=${name}` }, check)
  await change('Loterij')
  const former = await page('', 'POST')
  t.match(former, /<bdi>Loterij<\/bdi>/, 'a page of a former version said not what it showed')
  t.notMatch(former, /has changed/)
  const changed = await page(before, 'POST')
  t.match(changed, /has changed since you saw it.*<bdi>Loterij<\/bdi>/)
  let pressed: Promise<string> | undefined
  await change('Gokken', async () => {
    let isAnswered = false
    pressed = page(button(changed), 'POST').finally(() => {
      isAnswered = true
    })
    await until(async () => isAnswered || (await lockWaits(api.pool)) > 0, 20_000)
  })
  const meanwhile = await pressed!
  t.match(meanwhile, /has changed since you saw it.*<bdi>Gokken<\/bdi>/, 'it changes meanwhile')
  const rest = async (why: string | null) =>
    void (await api.pool.query('update search_alerts set rests = $2 where alert_id = $1', [
      id,
      why,
    ]))
  await rest('The search cannot be run.')
  t.match([await page(), await page('', 'HEAD')], [/good once/, ''])
  await rest(null)
  t.match(await page(button(meanwhile), 'POST'), /From now on.*<bdi>Gokken<\/bdi>/)
  t.match(await page(button(meanwhile), 'POST'), /good once/)
})
