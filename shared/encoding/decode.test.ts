import iconv from 'iconv-lite'
import t from 'tap'
import { decodeText } from './decode.ts'

const html = { contentType: 'text/html', kind: 'html' as const }
const page = (charset: string | null, text: string) =>
  `<!doctype html><html><head>${charset === null ? '' : `<meta charset="${charset}">`}<title>${text}</title></head></html>`
const TEXT = 'Zoë à l’école: 5 € voor “één” Straße, déi schéinst Lëtzebuerger Nouvellen'
const LATIN = 'Zoë à l’école: 5 € voor “één” Straße'

t.test('UTF-8 is read without any declaration', async t => {
  t.match(decodeText(Buffer.from(page(null, TEXT)), { contentType: null, kind: 'html' }), TEXT)
})

t.test('UTF-8 as ASCII, and with the charset twice, is read (feedparser#81, miniflux#297)', async t => {
  for (const contentType of ['text/xml; charset=us-ascii', 'application/xml; charset=utf-8; charset=utf-8'])
    t.match(decodeText(Buffer.from(`<rss>${TEXT}</rss>`), { contentType, kind: 'xml' }), TEXT, contentType)
})

t.test('valid UTF-8 beats a Latin-1 header and a Latin-1 meta element', async t => {
  const decoded = decodeText(Buffer.from(page('iso-8859-1', TEXT)), {
    ...html,
    contentType: 'text/html; charset=ISO-8859-1',
  })
  t.match(decoded, TEXT)
})

t.test('Latin-1 bytes under a UTF-8 header are read as Latin-1', async t => {
  const decoded = decodeText(iconv.encode(page('utf-8', LATIN), 'windows-1252'), {
    ...html,
    contentType: 'text/html; charset=utf-8',
  })
  t.ok(decoded.includes(LATIN))
})

t.test('ISO-8859-1 means windows-1252, as in browsers: quotes and the euro sign are there', async t => {
  const decoded = decodeText(iconv.encode(page('iso-8859-1', LATIN), 'windows-1252'), html)
  t.ok(decoded.includes(LATIN))
})

for (const encoding of ['utf-16le', 'utf-16be']) {
  for (const addBOM of [true, false]) {
    t.test(`${encoding} ${addBOM ? 'with' : 'without'} a byte-order mark`, async t => {
      const decoded = decodeText(iconv.encode(page('utf-16', TEXT), encoding, { addBOM }), html)
      t.ok(decoded.startsWith('<!doctype'))
      t.ok(decoded.includes(TEXT))
    })
  }
}

t.test('a UTF-8 byte-order mark is no part of the text', async t => {
  const decoded = decodeText(Buffer.from(`\ufeff<?xml version="1.0" encoding="iso-8859-1"?><rss>é</rss>`), {
    contentType: null,
    kind: 'xml',
  })
  t.ok(decoded.startsWith('<?xml'))
  t.match(decoded, 'é')
})

t.test('an XML declaration is believed when the header says nothing', async t => {
  const source = '<?xml version="1.0" encoding="ISO-8859-15"?><rss>5 € Œuvre</rss>'
  const decoded = decodeText(iconv.encode(source, 'iso-8859-15'), { contentType: 'application/xml', kind: 'xml' })
  t.match(decoded, '5 € Œuvre')
})

t.test('an unknown label counts for nothing', async t => {
  for (const label of ['x-klingon', 'utf-9', '', 'none', '"><script>', 'base64']) {
    const decoded = decodeText(iconv.encode(page(label, LATIN), 'windows-1252'), {
      ...html,
      contentType: `text/html; charset=${label}`,
    })
    t.ok(decoded.includes(LATIN), label)
  }
  t.match(decodeText(Buffer.from(page('utf-9', TEXT)), html), TEXT)
})

t.test('where header and document disagree on a single-byte encoding, the text that reads wins', async t => {
  const russian = 'Новости дня: правительство приняло решение'
  const decoded = decodeText(iconv.encode(page('windows-1251', russian), 'windows-1251'), {
    ...html,
    contentType: 'text/html; charset=iso-8859-1',
  })
  t.ok(decoded.includes(russian))
})

t.test('a few foreign bytes do not turn UTF-8 into mojibake', async t => {
  const mixed = Buffer.concat([Buffer.from(page(null, TEXT)), Buffer.from([0xe9, 0x20]), Buffer.from(TEXT)])
  const decoded = decodeText(mixed, html)
  t.ok(decoded.endsWith(TEXT))
})

t.test('UTF-8 cut in the middle of a character stays UTF-8', async t => {
  const whole = Buffer.from(`${page('iso-8859-1', 'déjà')}é`)
  const decoded = decodeText(whole.subarray(0, -1), html)
  t.match(decoded, 'déjà')
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
