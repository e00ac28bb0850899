import t from 'tap'
import { openMail } from '#services/notifier/mail'
import { openWebhooks } from '#services/notifier/webhook'
import { readConfig } from '#shared/config/config'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { runScript } from '#test/script'
import { openDeafHost } from './deaf-host.ts'

t.test('a command ends with a sentence where the host of Postgres has vanished', async t => {
  const { port } = await openDeafHost(t)
  const env = {
    DATABASE_URL: `postgres://perscope:x@127.0.0.1:${port}/perscope`,
    QDRANT_URL: '',
    EMBEDDINGS_URL: '',
    REDIS_URL: '',
  }
  const said = ['doctor', 'status', 'verify'].map(async name => {
    const { out, err } = await runScript(name, [], env)
    return `${out}${err}`
  })
  const late = () => ['still waits']
  t.match(await withTimeLimit(Promise.all(said), 90_000, late), [
    /FAIL +database +Postgres does not answer within 10 s .*: see whether its machine/,
    /Postgres does not answer in time .* DATABASE_URL/,
    /Postgres does not answer in time .* DATABASE_URL/,
  ])
})

t.test('a message to a host that answers no SYN fails in its time', async t => {
  const { port } = await openDeafHost(t)
  const nobody = `127.0.0.1:${port}`
  const config = readConfig({
    SMTP_URL: `smtp://${nobody}`,
    PUBLIC_URL: 'https://news.example',
    ALERT_HOSTS: nobody,
  })
  const mail = openMail(config, 1_000)
  const webhooks = openWebhooks(config)
  t.teardown(async () => {
    mail?.close()
    await webhooks.close()
  })
  const message = {
    id: 'msg_0',
    type: 'test' as const,
    search: { id: 'search_0', name: 'Bruggen' },
    articles: [],
    more: 0,
  }
  const secrets = { ending: () => 'token', agreeing: () => 'token' }
  const alert = {
    id: 'alert_0',
    to: 'mailto:lezer@example.org',
    when: '08:00',
    zone: 'UTC',
    language: 'en' as const,
  }
  const told = async (work: Promise<void> | undefined, limit: number): Promise<string> => {
    const outcome = (work ?? Promise.resolve()).then(
      () => 'arrives',
      (error: Error) => error.name,
    )
    return await withTimeLimit(outcome, limit, () => 'still waits')
  }
  const body = { id: 'msg_0', body: '{}', secret: 'whsec_AAAA' }
  // The limits of the libraries themselves are ten seconds a step for a mail.
  t.strictSame(
    await Promise.all([
      told(mail?.send([{ alert, message, query: '', found: null }], secrets, []), 6_000),
      told(webhooks.send(`http://${nobody}/hook`, body), 20_000),
    ]),
    ['NotDelivered', 'NotDelivered'],
  )
})
