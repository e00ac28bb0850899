import fc from 'fast-check'
import t from 'tap'
import { WEB_ADDRESS } from '#test/characters'
import ADDRESSES from './address.json' with { type: 'json' }
import { ADDRESS_LIMIT, addressKey, cleanAddress, readAddress, readTarget } from './address.ts'

const host = fc.constantFrom(
  'nieuws.example',
  'www.nieuws.example',
  'sub.nieuws.example',
  '127.0.0.1:8081',
  'localhost:9000',
)
const segment = fc.stringMatching(/^[a-zA-Z0-9%._~;,éß-]{1,12}$/)
const path = fc.array(segment, { maxLength: 4 }).map(parts => `/${parts.join('/')}`)
const parameter = fc.tuple(
  fc.stringMatching(/^[a-z0-9]{1,6}$/),
  fc.stringMatching(/^[a-zA-Z0-9%+é]{0,8}$/),
)
const query = fc.array(parameter, { maxLength: 4 }).map(all => all.map(([k, v]) => `${k}=${v}`))
const address = fc
  .tuple(fc.constantFrom('http', 'https'), host, path, query)
  .map(([scheme, h, p, q]) => `${scheme}://${h}${p}${q.length > 0 ? `?${q.join('&')}` : ''}`)
const tracking = fc.constantFrom(
  'utm_source=rss',
  'fbclid=IwAR1',
  'gclid=x',
  'xtor=RSS-3',
  'at_medium=Social',
  'ns_campaign=a',
  'ref=rss',
)

t.test('decision 37: a key is its own key', async () => {
  fc.assert(
    fc.property(fc.oneof(address, WEB_ADDRESS), url => {
      const key = addressKey(url)
      return key.length <= 512 && addressKey(`https://${key}`) === key
    }),
    { numRuns: 3000 },
  )
})

t.test(
  'decision 37: tracking parameters, their place and the order of the others never matter',
  async () => {
    fc.assert(
      fc.property(
        address,
        tracking,
        fc.nat(),
        fc.stringMatching(/^[a-z0-9]{0,8}$/),
        (url, extra, at, fragment) => {
          const [before = '', search = ''] = url.split('?')
          const pairs = search === '' ? [] : search.split('&')
          const place = at % (pairs.length + 1)
          const more = [...pairs.slice(0, place), extra, ...pairs.slice(place)].reverse()
          return addressKey(`${before}?${more.join('&')}#${fragment}`) === addressKey(url)
        },
      ),
      { numRuns: 2000 },
    )
  },
)

t.test('decision 37: another number in a parameter or in the path is another article', async () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (a, b) => {
      fc.pre(a !== b)
      for (const form of [
        'https://x.example/?id=',
        'https://x.example/?p=',
        'https://x.example/a/',
        'https://x.example/?ref=2',
      ]) {
        if (addressKey(form + a) === addressKey(form + b)) return false
      }
      return true
    }),
  )
})

t.test('decision 37: one article, many ways to write its address', async t => {
  for (const [key, addresses] of Object.entries(ADDRESSES.same)) {
    for (const form of addresses) t.equal(addressKey(form), key.replace('/?', '?'), form)
  }
})

t.test('decision 37: similar addresses of different articles', async t => {
  const long = `https://x.example/${'a'.repeat(600)}`
  const pairs = [...ADDRESSES.different, [`${long}1`, `${long}2`]]
  for (const [a = '', b = ''] of pairs)
    t.not(addressKey(a), addressKey(b), `${a.slice(0, 60)} | ${b.slice(0, 60)}`)
})

t.test('addresses that nobody can fetch are refused with a sentence', async t => {
  const bad = [
    'javascript:alert(1)',
    'mailto:a@b.example',
    'data:text/html,x',
    'ftp://x.example/',
    '/a/b',
    '',
    'https://',
    'x',
  ]
  for (const form of [...bad, `https://x.example/${'a'.repeat(ADDRESS_LIMIT)}`]) {
    t.equal(readAddress(form), null, form.slice(0, 40))
    t.throws(() => addressKey(form), {
      name: 'TypeError',
      message: /^not an http\(s\) address.{25,140}$/,
    })
  }
  t.equal(readAddress('../b?c', 'https://x.example/a/d/')?.href, 'https://x.example/a/b?c')
})

t.test('the shown address keeps the outlet’s own spelling', async t => {
  const shown = (form: string) => cleanAddress(new URL(form))
  t.equal(
    shown('https://www.x.example/A/b/?id=1&utm_source=rss&c=d#e'),
    'https://www.x.example/A/b/?id=1&c=d',
  )
  t.equal(shown('https://x.example/a?q=a+b&c'), 'https://x.example/a?q=a+b&c')
  t.equal(shown('https://u:p@x.example/a?fbclid=1'), 'https://x.example/a')
  t.equal(shown('https://www.google.com/amp/x.example/a'), 'http://x.example/a')
  for (const form of ['https://x.example/a?b&amp;c=1', 'https://x.example/a?utm_=1'])
    t.equal(shown(form), form)
})

t.test('the longest address and key, and what is asked for', async t => {
  const long = (length: number) => `https://x.example/${'a'.repeat(length - 18)}`
  const forms = [long(2048), long(2049), `${long(2048)} `]
  t.same(
    forms.map(form => readAddress(form) === null),
    [false, true, true],
  )
  t.throws(() => addressKey(long(2049)), /characters: https:\/\/x\.example\/a{82}$/)
  t.equal(readAddress('a'.repeat(2048), 'https://x.example/'), null)
  t.same(
    [520, 521].map(length => addressKey(long(length)).length),
    [512, 75],
  )
  t.same(
    [readTarget('x'), readTarget('https://u:p@x.example/a#b')?.href],
    [null, 'https://x.example/a'],
  )
})
