import t from 'tap'
import { link } from './text.ts'

t.test('no Markdown of an address works, and the address stays the same', async t => {
  const cases = {
    'https://a.example/x?q=![i](https://evil.example)':
      'https://a.example/x?q=%21%5Bi%5D%28https://evil.example%29',
    'https://a.example/*b*_c_/d_e~f~': 'https://a.example/%2Ab%2A%5Fc%5F/d_e%7Ef%7E',
    'https://a.example/?x=`a`|b': 'https://a.example/?x=%60a%60%7Cb',
    "https://a.example/#'<b>": 'https://a.example/#%27%3Cb%3E',
    'https://a.example/%5Bx%5D?a_b=1': 'https://a.example/%5Bx%5D?a_b=1',
    'http://[::1]:8080/[x]': 'http://[::1]:8080/%5Bx%5D',
  }
  for (const [given, expected] of Object.entries(cases)) {
    t.equal(link(given), expected)
    t.equal(decodeURIComponent(link(given) ?? ''), decodeURIComponent(new URL(given).href))
  }
  for (const other of ['javascript:alert(1)', 'https://user:x@a.example/', 'no address'])
    t.equal(link(other), null, other)
})
