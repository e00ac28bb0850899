import iconv from 'iconv-lite'
import t from 'tap'
import { decodeText } from './decode.ts'

const html = { contentType: 'text/html', kind: 'html' as const }
const page = (charset: string | null, text: string) =>
  `<!doctype html><html><head>${charset === null ? '' : `<meta charset="${charset}">`}<title>${text}</title></head></html>`
const TEXT = 'Zoë à l’école: 5 € voor “één” Straße, déi schéinst Lëtzebuerger Nouvellen'
const LATIN = 'Zoë à l’école: 5 € voor “één” Straße'

t.test('UTF-8 is read without any declaration', async t => {
  const { text, encoding, warning } = decodeText(Buffer.from(page(null, TEXT)), { contentType: null, kind: 'html' })
  t.match(text, TEXT)
  t.equal(encoding, 'utf-8')
  t.equal(warning, undefined)
})

t.test('valid UTF-8 beats a Latin-1 header and a Latin-1 meta element, with a warning', async t => {
  const decoded = decodeText(Buffer.from(page('iso-8859-1', TEXT)), {
    ...html,
    contentType: 'text/html; charset=ISO-8859-1',
  })
  t.match(decoded.text, TEXT)
  t.match(decoded.warning, /windows-1252, but it reads as utf-8/)
})

t.test('Latin-1 bytes under a UTF-8 header are read as Latin-1', async t => {
  const decoded = decodeText(iconv.encode(page('utf-8', LATIN), 'windows-1252'), {
    ...html,
    contentType: 'text/html; charset=utf-8',
  })
  t.ok(decoded.text.includes(LATIN))
  t.equal(decoded.encoding, 'windows-1252')
})

t.test('ISO-8859-1 means windows-1252, as in browsers: quotes and the euro sign are there', async t => {
  const decoded = decodeText(iconv.encode(page('iso-8859-1', LATIN), 'windows-1252'), html)
  t.ok(decoded.text.includes(LATIN))
  t.equal(decoded.warning, undefined)
})

for (const encoding of ['utf-16le', 'utf-16be']) {
  for (const addBOM of [true, false]) {
    t.test(`${encoding} ${addBOM ? 'with' : 'without'} a byte-order mark`, async t => {
      const decoded = decodeText(iconv.encode(page('utf-16', TEXT), encoding, { addBOM }), html)
      t.ok(decoded.text.startsWith('<!doctype'))
      t.ok(decoded.text.includes(TEXT))
    })
  }
}

t.test('a UTF-8 byte-order mark is no part of the text', async t => {
  const decoded = decodeText(Buffer.from(`\ufeff<?xml version="1.0" encoding="iso-8859-1"?><rss>é</rss>`), {
    contentType: null,
    kind: 'xml',
  })
  t.ok(decoded.text.startsWith('<?xml'))
  t.match(decoded.text, 'é')
})

t.test('an XML declaration is believed when the header says nothing', async t => {
  const source = '<?xml version="1.0" encoding="ISO-8859-15"?><rss>5 € Œuvre</rss>'
  const decoded = decodeText(iconv.encode(source, 'iso-8859-15'), { contentType: 'application/xml', kind: 'xml' })
  t.match(decoded.text, '5 € Œuvre')
  t.equal(decoded.encoding, 'iso-8859-15')
})

t.test('an unknown label is a warning, not an error', async t => {
  for (const label of ['x-klingon', 'utf-9', '', 'none', '"><script>', 'base64']) {
    const decoded = decodeText(iconv.encode(page(label, LATIN), 'windows-1252'), {
      ...html,
      contentType: `text/html; charset=${label}`,
    })
    t.ok(decoded.text.includes(LATIN), label)
  }
  t.match(decodeText(Buffer.from(page('utf-9', TEXT)), html).warning, /"utf-9", which is none; read as utf-8/)
})

t.test('where header and document disagree on a single-byte encoding, the text that reads wins', async t => {
  const russian = 'Новости дня: правительство приняло решение'
  const decoded = decodeText(iconv.encode(page('windows-1251', russian), 'windows-1251'), {
    ...html,
    contentType: 'text/html; charset=iso-8859-1',
  })
  t.ok(decoded.text.includes(russian))
})

t.test('a few foreign bytes do not turn UTF-8 into mojibake', async t => {
  const mixed = Buffer.concat([Buffer.from(page(null, TEXT)), Buffer.from([0xe9, 0x20]), Buffer.from(TEXT)])
  const decoded = decodeText(mixed, html)
  t.equal(decoded.encoding, 'utf-8')
  t.ok(decoded.text.endsWith(TEXT))
})

t.test('UTF-8 cut in the middle of a character stays UTF-8', async t => {
  const whole = Buffer.from(`${page('iso-8859-1', 'déjà')}é`)
  const decoded = decodeText(whole.subarray(0, -1), html)
  t.equal(decoded.encoding, 'utf-8')
  t.match(decoded.text, 'déjà')
})

t.test('nothing at all, NULs and noise come back as some text', async t => {
  t.equal(decodeText(new Uint8Array(), html).text, '')
  t.equal(decodeText(Buffer.from('a\u0000b'), html).text, 'ab')
  t.type(decodeText(Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7919) % 256)), html).text, 'string')
})

t.test('bytes in the middle of a larger buffer are read from where they begin', async t => {
  const large = Buffer.from(`junk${page(null, TEXT)}junk`)
  t.ok(decodeText(new Uint8Array(large.buffer, large.byteOffset + 4, large.length - 8), html).text.endsWith('</html>'))
})
