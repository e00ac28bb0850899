import assert from 'node:assert'
import { subscribe } from 'node:diagnostics_channel'
import { syncBuiltinESMExports } from 'node:module'
import { gunzipSync, default as zlib } from 'node:zlib'

/*
 * Loaded into a service before its own code (`node --import`): its HTTP client throws where nothing
 * can catch it, at an answer with the header `x-poison`, as undici 7 did at others. So do requests
 * and compressed texts that hold certain words.
 */
export const ENDS = 'ends-its-process'

subscribe('undici:request:create', (message: unknown) => {
  const { request } = Object.assign({ request: { body: null as unknown } }, message)
  if (String(request.body).includes(ENDS)) setImmediate(() => assert.fail('a poisoned text'))
})

const { gunzip } = zlib
const poisoned = (...given: Parameters<typeof gunzip>) => {
  if (gunzipSync(given[0]).includes(ENDS)) setImmediate(() => assert.fail('a poisoned text'))
  gunzip(...given)
}
Object.assign(zlib, { gunzip: poisoned })
syncBuiltinESMExports()

subscribe('undici:request:headers', (message: unknown) => {
  const { response } = Object.assign({ response: { headers: [] as Buffer[] } }, message)
  assert(!response.headers.map(String).includes('x-poison'), 'a poisoned answer')
})
