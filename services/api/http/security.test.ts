import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'
import t from 'tap'
import { SECURITY_HEADERS, TRANSPORT_SECURITY } from './security.ts'

/** The headers that helmet sets, by their names in lower case. */
function headersOfHelmet(options: Parameters<typeof helmet>[0]) {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  helmet(options)(request, response, () => {})
  return { ...response.getHeaders() }
}

t.test('the security headers of answers are those of helmet', async t => {
  const contentSecurityPolicy = {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  }
  const lower = (headers: readonly (readonly [string, string])[]) =>
    Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]))
  t.strictSame(lower(SECURITY_HEADERS), headersOfHelmet({ contentSecurityPolicy, strictTransportSecurity: false }))
  t.strictSame(
    lower([...SECURITY_HEADERS, TRANSPORT_SECURITY]),
    headersOfHelmet({ contentSecurityPolicy, strictTransportSecurity: { includeSubDomains: false } }),
  )
})
