import { once } from 'node:events'
import { createServer as createWebServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { listen } from '../../test/fleet.ts'
import { openMail } from './mail.ts'
import { LEASE, MAILED_WITHIN, pauseAfter, SENT_WITHIN } from './retries.ts'
import { NotDelivered, openWebhooks } from './webhook.ts'

const alert = {
  id: 'alert_0',
  to: 'mailto:lezer@example.org',
  when: '08:00',
  zone: 'Europe/Brussels',
  language: 'en' as const,
}
const secrets = { ending: () => 'token', agreeing: () => 'token' }
const message = {
  id: 'msg_0',
  type: 'test' as const,
  search: { id: 'search_0', name: 'Bruggen' },
  articles: [],
  more: 0,
}

t.test('a whole mail is bounded, and its connection ends, however slow each step is', async t => {
  const ended = Promise.withResolvers<void>()
  const STEPS: Record<string, string> = {
    EHLO: '250 here',
    MAIL: '250 ok',
    RCPT: '250 ok',
    DATA: '354 go on',
  }
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {}).once('close', () => ended.resolve())
    const say = (line: string) => void pause(400).then(() => socket.write(`${line}\r\n`))
    say('220 slow')
    socket.on('data', data => say(STEPS[data.toString().slice(0, 4)] ?? '250 ok'))
  })
  const port = await listen(server)
  t.teardown(() => server.close())
  const config = {
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    SMTP_FROM: 'alerts@news.example',
    SERVICE_NAME: 'News',
    PUBLIC_URL: 'https://news.example',
    HOST: '127.0.0.1',
    PORT: 1,
  }
  const mail = openMail(config, 900)!
  const sent = mail.send([{ alert, message, query: 'q=brug', found: null }], secrets, [])
  await t.rejects(sent, {
    name: 'NotDelivered',
    message: /longer than 0\.9 s/,
    isUnreachable: true,
  })
  await ended.promise
})

t.test('410 ends, and 429 and 503 say when a receiver wants the next message', async t => {
  let answer = { status: 200, headers: {} }
  const server = createWebServer((_request, response) =>
    response.writeHead(answer.status, answer.headers).end(),
  )
  const to = `http://127.0.0.1:${await listen(server)}/hook`
  const webhooks = openWebhooks({ ALERT_HOSTS: ['127.0.0.1'] })
  t.teardown(async () => {
    await webhooks.close()
    await once(server.close(), 'close')
  })
  const failure = async (status: number, headers = {}) => {
    answer = { status, headers }
    const body = { id: 'msg_0', body: '{}', secret: 'whsec_AAAA' }
    const error = await webhooks.send(to, body).then(
      () => null,
      one => one,
    )
    return error instanceof NotDelivered ? error : null
  }
  t.equal(await failure(204), null)
  t.match(await failure(410), { isGone: true, message: /gone for good/ })
  t.match(await failure(500, { 'retry-after': '60' }), { isGone: false, retryAfter: null })
  t.match(await failure(429, { 'retry-after': '60' }), { retryAfter: 60_000 })
  const later = new Date(Date.now() + 120_000).toUTCString()
  const date = (await failure(503, { 'retry-after': later }))?.retryAfter ?? 0
  t.ok(date > 100_000 && date <= 121_000, `${date}`)
})

t.test('pauses double up to ten minutes; an asked pause is kept up to an hour', async t => {
  t.ok(SENT_WITHIN < MAILED_WITHIN && MAILED_WITHIN < LEASE, 'a lease is longer than a send')
  t.equal(pauseAfter(1, null, 1), 5_000)
  t.equal(pauseAfter(1, null, 0), 2_500)
  t.equal(pauseAfter(4, null, 1), 40_000)
  t.equal(pauseAfter(1_000, null, 1), 600_000)
  t.equal(pauseAfter(1, 60_000), 60_000)
  t.equal(pauseAfter(1, 86_400_000), 3_600_000)
  t.equal(pauseAfter(4, 1_000, 1), 40_000)
})
