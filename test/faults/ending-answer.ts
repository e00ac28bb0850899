import assert from 'node:assert'
import { subscribe } from 'node:diagnostics_channel'

/*
 * Loaded into a service before its own code (`node --import`): its HTTP client throws where nothing
 * can catch it, at an answer with the header `x-poison`, as undici 7 did at others.
 */
subscribe('undici:request:headers', (message: unknown) => {
  const { response } = Object.assign({ response: { headers: [] as Buffer[] } }, message)
  assert(!response.headers.map(String).includes('x-poison'), 'a poisoned answer')
})
