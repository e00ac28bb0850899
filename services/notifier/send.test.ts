import { createServer as createWebServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { certify } from '#test/crawler/certificates'
import { closeServer, freePort, listen } from '#test/fleet'
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

const webhooks = openWebhooks({ ALERT_HOSTS: ['127.0.0.1', 'none.invalid'] })
t.teardown(() => webhooks.close())
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
/** Why a message was not delivered; null: it was. */
const failureAt = (to: string): Promise<NotDelivered | null> =>
  webhooks.send(to, { id: 'msg_0', body: '{"é":1}', secret: SECRET }).then(
    () => null,
    error => (error instanceof NotDelivered ? error : Promise.reject(error)),
  )

t.test('every answer but 2xx is a failure, and some say what follows from it', async t => {
  let answer = { status: 200, headers: {} }
  const seen: { headers: Record<string, string>; body: string }[] = []
  const server = createWebServer(async (request, response) => {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    seen.push({ headers: Object.fromEntries(headers), body: await text(request) })
    response.writeHead(answer.status, { location: '/elsewhere', ...answer.headers }).end('ok')
  })
  const to = `http://127.0.0.1:${await listen(server)}/hook`
  t.teardown(() => closeServer(server))
  const now = Date.now()
  const times = [now, now + 120_000].map(time => new Date(time).toUTCString())
  const asks = { 'retry-after': '60' }
  const answers: [status: number, headers: object, failure: object | null][] = [
    [200, {}, null],
    [299, asks, null],
    [300, {}, { message: 'It answered 300.', isGone: false, isUnreachable: false }],
    [302, {}, { message: 'It answered 302.' }],
    [410, asks, { isGone: true, message: /gone for good/, retryAfter: null }],
    [500, asks, { isGone: false, retryAfter: null }],
    [429, asks, { retryAfter: 60_000 }],
    [503, { date: times[0], 'retry-after': times[1] }, { retryAfter: 120_000 }],
  ]
  for (const [status, headers, failure] of answers) {
    answer = { status, headers }
    t.match(await failureAt(to), failure, `${status}`)
  }
  t.equal(seen.length, answers.length, 'no redirect is followed')
  const [{ headers, body } = { headers: {}, body: '' }] = seen
  t.same(new Webhook(SECRET).verify(body, headers), { é: 1 })
  t.match(headers, {
    'content-type': 'application/json',
    'user-agent': 'Perscope',
    'webhook-id': 'msg_0',
  })
})

t.test('without an answer one sentence says why, and nothing of our network', async t => {
  const { certificate, key } = certify({ name: 'receiver', issuer: null })
  const secure = createSecureServer({ cert: certificate, key })
  t.teardown(() => closeServer(secure))
  const private_ = { isUnreachable: true, message: /^The host .* has no public address\.$/ }
  for (const [to, failure] of [
    [`http://127.0.0.1:${await freePort()}/`, { message: 'It cannot be reached.' }],
    [`https://127.0.0.1:${await listen(secure)}/`, { message: 'Its certificate is not in order.' }],
    ['http://none.invalid/', { message: 'Its host has no address.' }],
    ['http://[::1]:9/', private_],
    ['http://10.1.2.3/', private_],
    ['http://other.invalid/', private_],
  ] as const)
    t.match(await failureAt(to), { isUnreachable: true, isGone: false, ...failure }, to)
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
