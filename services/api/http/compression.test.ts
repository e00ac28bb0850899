import { randomBytes } from 'node:crypto'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import t from 'tap'
import { createCompressor, encodingFor } from './answer.ts'

t.test('issue 22: what is compressed can be read again, pages of any size', async t => {
  const compressor = createCompressor(1_000_000)
  for (const size of [0, 1, 1_024, 70_000, 3_000_000]) {
    const body = Buffer.from(randomBytes(size).toString('base64'))
    t.ok(brotliDecompressSync(await compressor.compress(`br ${size}`, 'br', body)).equals(body))
    t.ok(gunzipSync(await compressor.compress(`gzip ${size}`, 'gzip', body)).equals(body))
    t.ok(inflateSync(await compressor.compress(`deflate ${size}`, 'deflate', body)).equals(body))
  }
})

t.test('issue 22: a body is compressed once, however many ask for it at the same time', async t => {
  const compressor = createCompressor(1_000_000)
  const body = Buffer.from('een zin '.repeat(5_000))
  const all = await Promise.all(Array.from({ length: 50 }, () => compressor.compress('a', 'br', body)))
  t.equal(new Set(all).size, 1)
  t.equal(compressor.kept('a'), all[0])
  t.equal(compressor.kept('b'), undefined)
})

t.test('issue 22: no more is kept than the limit lets in, the latest last', async t => {
  const compressor = createCompressor(10_000)
  const body = () => Buffer.from(randomBytes(3_000).toString('base64'))
  const keys = Array.from({ length: 20 }, (_, i) => `${i}`)
  for (const key of keys) await compressor.compress(key, 'gzip', body())
  t.strictSame(
    keys.filter(key => compressor.kept(key)),
    ['17', '18', '19'].slice(-keys.filter(key => compressor.kept(key)).length),
  )
  t.ok(compressor.kept('19'))
  const none = createCompressor(0)
  await none.compress('a', 'gzip', body())
  t.equal(none.kept('a'), undefined)
})

const cases: [header: string | undefined, encoding: string | null][] = [
  [undefined, null],
  ['', null],
  ['identity', null],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['deflate', 'deflate'],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;Q=1', 'gzip'],
  ['zstd', null],
  ['*', 'br'],
  ['*;q=0', null],
  ['br;q=0', null],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=0.5, br;q=0.4', 'gzip'],
  ['gzip ; q=0.5 , br ; q=0.50', 'br'],
  ['identity, gzip', 'gzip'],
  ['identity, gzip;q=0.9', null],
  ['identity, deflate', null],
  ['deflate, identity', 'deflate'],
  ['identity;q=0', null],
  ['identity;q=0, deflate', 'deflate'],
  [',,;,=', null],
  ['gzip;q=x', 'gzip'],
  [`${'x,'.repeat(10_000)}gzip`, null],
]
for (const [header, encoding] of cases) {
  t.test(
    `decision 8: Accept-Encoding "${header?.slice(0, 40)}" is answered with ${encoding ?? 'no coding'}`,
    async t => {
      t.equal(encodingFor(header), encoding)
    },
  )
}
