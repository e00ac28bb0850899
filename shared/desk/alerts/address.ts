import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { type AddressRule, addressRule } from '#shared/addresses'
import type { Config } from '#shared/config/config'

const NO_MAIL =
  'This server sends no mail; write an address that begins with https://, or make a feed.'
const MAIL =
  /^mailto:([^\s\p{Cc}\p{Cs}@<>()[\]\\,;:"?&%]{1,64}@(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})$/iu

/**
 * Whether an address is on a host that the operator has allowed in ALERT_HOSTS, as `host` or
 * `host:port`.
 */
export const isOwn = (
  { hostname, host }: URL,
  { ALERT_HOSTS }: Pick<Config, 'ALERT_HOSTS'>,
): boolean => ALERT_HOSTS.some(one => [hostname, host].includes(one.toLowerCase()))

/** Why alerts cannot write to addresses of mail; null: they can. */
export const whyNoMail = (config: Pick<Config, 'SMTP_URL' | 'SMTP_FROM'>): string | null =>
  // The notifier alone may have SMTP_URL, which holds a password.
  config.SMTP_URL !== '' || config.SMTP_FROM !== '' ? null : NO_MAIL

export const PUBLIC: AddressRule = addressRule([], [])

/**
 * Checks the address to which an alert shall send messages.
 *
 * @param lookUp the addresses of a name; empty: it has none
 * @returns the address in one spelling, or the sentence that says why it is refused
 */
export async function readAddress(
  written: string,
  config: Pick<Config, 'ALERT_HOSTS' | 'SMTP_URL' | 'SMTP_FROM'>,
  lookUp: (host: string) => Promise<LookupAddress[]>,
): Promise<{ to: string } | { why: string }> {
  const trimmed = written.trim()
  const text = /^[^:/]+@/.test(trimmed) ? `mailto:${trimmed}` : trimmed
  if (/^mailto:/i.test(text)) {
    const mail = MAIL.exec(text)?.[1]
    if (mail === undefined)
      return { why: 'Write one address, as name@example.org, without anything else.' }
    const why = whyNoMail(config)
    return why === null ? { to: `mailto:${mail}` } : { why }
  }
  const url = text.length <= 2_000 && URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    return {
      why: 'Write a mail address, as name@example.org, or an address that begins with https://.',
    }
  if (url.username !== '' || url.password !== '')
    return { why: 'Write the address without a name or a password.' }
  url.hash = ''
  if (isOwn(url, config)) return { to: url.href }
  if (url.protocol === 'http:')
    return { why: 'Write an address that begins with https://: http is read on its way.' }
  if (url.port !== '') return { why: 'Leave the port out: only 443 is asked.' }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const found = isIP(host) ? [{ address: host }] : await lookUp(host)
  if (!found.some(({ address }) => PUBLIC.isPublic(address))) return { why: notPublic(host) }
  return { to: url.href }
}

/** The same sentence for a name that does not exist, so that nobody learns which names exist. */
export const notPublic = (host: string): string => `The host ${host} has no public address.`
