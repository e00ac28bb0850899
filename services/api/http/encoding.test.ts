import t from 'tap'
import { encodingFor } from './encoding.ts'

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
