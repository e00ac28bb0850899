import { createRequire } from 'node:module'
import type Nodemailer from 'nodemailer'
import { type Config, publicUrlOf } from '#shared/config/config'
import type { AskedAbout } from '#shared/desk/alerts/consent'
import type { AlertSecrets } from '#shared/desk/alerts/secrets'
import { invitation, letter } from './letter.ts'
import type { Section } from './message.ts'
import { MAILED_WITHIN } from './retries.ts'
import { NotDelivered } from './webhook.ts'

/** ms that each step of a conversation with the mail server may take. */
const ANSWERS = 10_000

/** Sends the mail of alerts. */
export interface Mail {
  /**
   * Sends one mail for one search, or for several of one address.
   *
   * @param asked of a message that asks for consent: the searches, and when each would write
   * @throws NotDelivered
   */
  send(
    sections: readonly Section[],
    secrets: Pick<AlertSecrets, 'ending' | 'agreeing'>,
    asked: readonly AskedAbout[],
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
  // Without SMTP_URL it is not loaded.
  const { createTransport }: typeof Nodemailer = createRequire(import.meta.url)('nodemailer')
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
  const service = config.SERVICE_NAME
  const from = config.SMTP_FROM || `alerts@${new URL(base).hostname}`
  return {
    async send(sections, { ending, agreeing }, asked): Promise<void> {
      const { alert, message } = sections[0]!
      // The page behind a link speaks the language of the mail, also when its alert is gone.
      const said = `?language=${alert.language}`
      const endingOf = (some: readonly Section[]) =>
        `${base}/unsubscribe/${ending(some.map(({ alert }) => alert))}${said}`
      const unsubscribe = endingOf(sections)
      const content =
        message.type === 'ask'
          ? invitation(asked, alert.language, service, {
              agree: `${base}/confirm/${agreeing(message.id)}${said}`,
              refuse: unsubscribe,
            })
          : letter(sections, service, { base, ending: endingOf })
      // The steps of a conversation are bounded one by one, which bounds no number of steps. At the
      // abort the library closes the connection, so a mail that comes late is not sent twice.
      const signal = AbortSignal.timeout(within)
      const mail = {
        signal,
        from: { name: service, address: from },
        to: alert.to.slice('mailto:'.length),
        ...content,
        messageId: `<${message.id}@${new URL(base).hostname}>`,
        headers: {
          'List-Unsubscribe': `<${unsubscribe}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          'Auto-Submitted': 'auto-generated',
        },
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

function notDelivered(error: unknown): NotDelivered {
  const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
  return code >= 400
    ? new NotDelivered(`The mail server answered ${code}.`)
    : new NotDelivered('The mail server cannot be reached.', { isUnreachable: true })
}
