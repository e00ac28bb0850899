import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createCompressor, encodingFor } from './answer.ts'
import CODINGS from './codings.json' with { type: 'json' }
import { trustProxy } from './trust-proxy.ts'

t.test('no more is kept than the limit lets in, the latest last', async t => {
  const compressor = createCompressor(10_000)
  const body = () => Buffer.from(randomBytes(3_000).toString('base64'))
  const keys = Array.from({ length: 20 }, (_, i) => `${i}`)
  for (const key of keys) await compressor.compress(key, 'gzip', body())
  t.strictSame(
    keys.filter(key => compressor.kept(key)),
    ['17', '18', '19'].slice(-keys.filter(key => compressor.kept(key)).length),
  )
  t.ok(compressor.kept('19'))
})

t.test('decision 8: the coding that Accept-Encoding prefers is taken', async t => {
  for (const { header, encoding } of CODINGS) t.equal(encodingFor(header), encoding, header)
  for (const header of [undefined, `${'x,'.repeat(10_000)}gzip`]) t.equal(encodingFor(header), null)
})

t.test('TRUST_PROXY is a number of hops, or addresses and ranges', async t => {
  for (const setting of ['', 'false', '0']) t.equal(trustProxy(setting), false)
  t.same(['2', 'loopback, ::1,10.0.0.0/8'].map(trustProxy), [2, ['loopback', '::1', '10.0.0.0/8']])
  for (const setting of ['true', '200', '::1,all'])
    t.throws(() => trustProxy(setting), { message: /write a number/ })
})
