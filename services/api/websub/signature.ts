import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto'

/** The methods of X-Hub-Signature (W3C WebSub §8). */
const METHODS = new Set(['sha1', 'sha256', 'sha384', 'sha512'])

/** The signature of a body that arrives piece by piece. */
export interface Signature {
  hmac: Hmac
  /** Whether the body so far has the signature that the hub sent. May be called once. */
  isRight(): boolean
}

/** Reads `X-Hub-Signature: method=hex`. Null: there is none that we can check. */
export function readSignature(header: string | undefined, secret: string): Signature | null {
  const [, method = '', hex = ''] = /^\s*(sha\d{1,3})=([0-9a-f]{40,128})\s*$/i.exec(header ?? '') ?? []
  if (!METHODS.has(method.toLowerCase())) return null
  const hmac = createHmac(method.toLowerCase(), secret)
  return {
    hmac,
    isRight() {
      const [own, sent] = [hmac.digest(), Buffer.from(hex, 'hex')]
      return own.length === sent.length && timingSafeEqual(own, sent)
    },
  }
}
