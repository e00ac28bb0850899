import t from 'tap'
import { freshFor } from './freshness.ts'

t.test('RFC 9111: max-age less the age of the answer; what must not be kept is never fresh', async t => {
  const cases: [Record<string, string>, number][] = [
    [{}, 0],
    [{ 'cache-control': 'max-age=300' }, 300_000],
    [{ 'cache-control': 'public, Max-Age="300", must-revalidate', age: '60' }, 240_000],
    [{ 'cache-control': 'max-age=300', age: '900' }, 0],
    [{ 'cache-control': 's-maxage=900' }, 0],
    [{ 'cache-control': 'max-age=300, no-cache' }, 0],
    [{ 'cache-control': 'no-store, max-age=300' }, 0],
    [{ 'cache-control': 'max-age=-5' }, 0],
    [{ 'cache-control': 'max-age=1e9' }, 0],
    [{ 'cache-control': 'max-age=300', age: 'old' }, 300_000],
    [{ 'cache-control': 'max-age=99999999999' }, 2 ** 31 * 1_000],
    [{ 'cache-control': 'max-age=9'.repeat(10_000) }, 0],
  ]
  for (const [headers, wanted] of cases) t.equal(freshFor(headers), wanted, JSON.stringify(headers).slice(0, 80))
})
