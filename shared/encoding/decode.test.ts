import iconv from 'iconv-lite'
import t from 'tap'
import { decodeText } from './decode.ts'

const html = { contentType: 'text/html', kind: 'html' as const }
const page = (charset: string | null, text: string) =>
  `<!doctype html><html><head>${charset === null ? '' : `<meta charset="${charset}">`}<title>${text}</title></head></html>`
const TEXT = 'Zoë à l’école: 5 € voor “één” Straße, déi schéinst Lëtzebuerger Nouvellen'
const LATIN = 'Zoë à l’école: 5 € voor “één” Straße'
const RUSSIAN = 'Новости дня: правительство приняло решение'

/** By name of the case: the encoding of the document, its header, and the text that must result. */
const cases: Record<string, [encoding: string, contentType: string | null, source: string]> = {
  'UTF-8 is read without any declaration': ['utf-8', null, page(null, TEXT)],
  'UTF-8 as ASCII (feedparser#81)': ['utf-8', 'text/xml; charset=us-ascii', `<rss>${TEXT}</rss>`],
  'the charset twice (miniflux#297)': ['utf-8', 'application/xml; charset=utf-8; charset=utf-8', `<rss>${TEXT}</rss>`],
  'valid UTF-8 beats Latin-1 in header and meta': ['utf-8', 'text/html; charset=ISO-8859-1', page('iso-8859-1', TEXT)],
  'Latin-1 bytes under a UTF-8 header': ['windows-1252', 'text/html; charset=utf-8', page('utf-8', LATIN)],
  'ISO-8859-1 means windows-1252, as in browsers': ['windows-1252', 'text/html', page('iso-8859-1', LATIN)],
  'an XML declaration without a header': [
    'iso-8859-15',
    'application/xml',
    '<?xml version="1.0" encoding="ISO-8859-15"?><rss>5 € Œuvre</rss>',
  ],
  'header and meta disagree on a single byte, and the text that reads wins': [
    'windows-1251',
    'text/html; charset=iso-8859-1',
    page('windows-1251', RUSSIAN),
  ],
  'UTF-8 under an unknown label': ['utf-8', 'text/html', page('utf-9', TEXT)],
  ...Object.fromEntries(
    ['x-klingon', 'utf-9', '', 'none', '"><script>', 'base64'].map(label => [
      `the label ${label} counts for nothing`,
      ['windows-1252', `text/html; charset=${label}`, page(label, LATIN)],
    ]),
  ),
}
for (const [name, [encoding, contentType, source]] of Object.entries(cases)) {
  t.test(name, async t => {
    const kind = source.startsWith('<!doctype') ? 'html' : 'xml'
    t.equal(decodeText(iconv.encode(source, encoding), { contentType, kind }), source)
  })
}

t.test('a byte-order mark is no part of the text, which may do without', async t => {
  for (const encoding of ['utf-8', 'utf-16le', 'utf-16be']) {
    for (const addBOM of [true, false])
      t.equal(
        decodeText(iconv.encode(page('utf-16', TEXT), encoding, { addBOM }), html),
        page('utf-16', TEXT),
        encoding,
      )
  }
})

t.test('a few foreign bytes do not turn UTF-8 into mojibake', async t => {
  const mixed = Buffer.concat([Buffer.from(page(null, TEXT)), Buffer.from([0xe9, 0x20]), Buffer.from(TEXT)])
  t.ok(decodeText(mixed, html).endsWith(TEXT))
})

t.test('UTF-8 cut in the middle of a character stays UTF-8', async t => {
  const whole = Buffer.from(`${page('iso-8859-1', 'déjà')}é`)
  t.match(decodeText(whole.subarray(0, -1), html), 'déjà')
})

t.test('nothing at all, NULs and noise come back as some text', async t => {
  t.equal(decodeText(new Uint8Array(), html), '')
  t.equal(decodeText(Buffer.from('a\u0000b'), html), 'ab')
  t.type(decodeText(Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7919) % 256)), html), 'string')
})

t.test('bytes in the middle of a larger buffer are read from where they begin', async t => {
  const large = Buffer.from(`junk${page(null, TEXT)}junk`)
  t.ok(decodeText(new Uint8Array(large.buffer, large.byteOffset + 4, large.length - 8), html).endsWith('</html>'))
})
