import { createTransport } from 'nodemailer'
import { type Config, publicUrlOf } from '../../shared/config/config.ts'
import type { Alert } from '../../shared/desk/alerts/alerts.ts'
import { invitedName } from '../../shared/desk/alerts/consent.ts'
import type { AlertSecrets } from '../../shared/desk/alerts/secrets.ts'
import type { Message, ToldArticle } from './message.ts'
import { MAILED_WITHIN } from './retries.ts'
import { NotDelivered } from './webhook.ts'

/** ms that each step of a conversation with the mail server may take. */
const ANSWERS = 10_000

/** Sends the mail of alerts. */
export interface Mail {
  /**
   * @param asked of a message that asks for consent: the names of the searches
   * @throws NotDelivered
   */
  send(
    alert: Pick<Alert, 'id' | 'to'>,
    message: Message,
    secrets: Pick<AlertSecrets, 'ending' | 'agreeing'>,
    asked: readonly string[],
  ): Promise<void>
  close(): void
}

/**
 * Sends mail over SMTP_URL. Returns null when SMTP_URL is empty.
 *
 * @param within ms that one mail may take
 */
export function openMail(
  config: Pick<Config, 'SMTP_URL' | 'SMTP_FROM' | 'SERVICE_NAME' | 'PUBLIC_URL' | 'HOST' | 'PORT'>,
  within: number = MAILED_WITHIN,
): Mail | null {
  if (config.SMTP_URL === '') return null
  const base = publicUrlOf(config)
  const transport = createTransport({
    url: config.SMTP_URL,
    connectionTimeout: ANSWERS,
    greetingTimeout: ANSWERS,
    socketTimeout: ANSWERS,
    dnsTimeout: ANSWERS,
    // With these options, no text in an article can make the library read a file or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const from = config.SMTP_FROM || `alerts@${new URL(base).hostname}`
  return {
    async send(alert, message, { ending, agreeing }, asked): Promise<void> {
      const unsubscribe = `${base}/unsubscribe/${ending(alert)}`
      const { subject, lines } =
        message.type === 'ask'
          ? invitation(asked, config.SERVICE_NAME, `${base}/confirm/${agreeing(message.id)}`)
          : contentOf(message, unsubscribe)
      // The steps of a conversation are bounded one by one, which bounds no number of steps. At the
      // abort the library closes the connection, so a mail that comes late is not sent twice.
      const signal = AbortSignal.timeout(within)
      const mail = {
        signal,
        from: { name: config.SERVICE_NAME, address: from },
        to: alert.to.slice('mailto:'.length),
        subject,
        messageId: `<${message.id}@${new URL(base).hostname}>`,
        headers: {
          'List-Unsubscribe': `<${unsubscribe}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          'Auto-Submitted': 'auto-generated',
        },
        text: `${lines.map(({ text, url }) => (url === undefined ? text : `${text}\n${url}`)).join('\n\n')}\n`,
        html: `<!doctype html><meta charset="utf-8">${lines.map(htmlOf).join('')}`,
      }
      await transport.sendMail(mail).catch((error: unknown) => {
        throw signal.aborted
          ? new NotDelivered(`The mail server took longer than ${within / 1_000} s.`, {
              isUnreachable: true,
            })
          : notDelivered(error)
      })
    },
    close: () => transport.close(),
  }
}

/** A paragraph: a text, or a link. */
interface Line {
  text: string
  url?: string
}

/** A mail, before it has its form. */
interface Content {
  subject: string
  lines: Line[]
}

/**
 * The mail that asks for consent. Its reader has asked for nothing, so no text of the asker leads
 * anywhere.
 */
function invitation(asked: readonly string[], service: string, confirm: string): Content {
  const names = asked.map(name => `"${invitedName(name)}"`)
  const lines: Line[] = [
    {
      text: `Somebody asked ${service} to tell this address what is new to: ${names.join(', ')}.`,
    },
    {
      text: 'If you want that, open this link within 24 hours and press its button. Otherwise do nothing: nothing else will come.',
    },
    { text: 'Tell me what is new', url: confirm },
  ]
  const [first = ''] = names
  const more = names.length > 1 ? ` and ${names.length - 1} more` : ''
  return { subject: oneLine(`${service}: do you want to be told about ${first}${more}?`), lines }
}

function contentOf(message: Message, unsubscribe: string): Content {
  const { name } = message.search
  const count = message.articles.length + message.more
  const lines: Line[] = [
    ...message.articles.map(articleLine),
    ...(message.type === 'test' ? [{ text: 'This is a test. Mail of this search arrives.' }] : []),
    ...(message.more > 0 ? [{ text: `And ${message.more} more.` }] : []),
    { text: 'No more mail of this search', url: unsubscribe },
  ]
  return {
    subject: oneLine(message.type === 'test' ? `${name}: a test` : `${name}: ${count} new`),
    lines,
  }
}

const articleLine = ({ title, url, outlet, published_at }: ToldArticle): Line => ({
  text: [title, outlet.name ?? outlet.domain ?? '', published_at?.slice(0, 10) ?? '']
    .filter(one => one !== '')
    .join(' · '),
  url,
})

const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 200)

const escaped = (text: string) => text.replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`)

const htmlOf = ({ text, url }: Line): string =>
  url === undefined
    ? `<p>${escaped(text)}</p>`
    : `<p><a href="${escaped(url)}">${escaped(text)}</a></p>`

function notDelivered(error: unknown): NotDelivered {
  const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
  return code >= 400
    ? new NotDelivered(`The mail server answered ${code}.`)
    : new NotDelivered('The mail server cannot be reached.', { isUnreachable: true })
}
