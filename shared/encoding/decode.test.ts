import iconv from 'iconv-lite'
import t from 'tap'
import { decodeText } from './decode.ts'
import DOCUMENTS from './documents.json' with { type: 'json' }

const html = { contentType: 'text/html', kind: 'html' as const }
const page = (charset: string | null, text: string) =>
  `<!doctype html><html><head>${charset === null ? '' : `<meta charset="${charset}">`}<title>${text}</title></head></html>`
const TEXT = 'Zoë à l’école: 5 € voor “één” Straße, déi schéinst Lëtzebuerger Nouvellen'
const LATIN = 'Zoë à l’école: 5 € voor “één” Straße'

for (const [name, encoding, contentType, source] of DOCUMENTS.texts as [
  string,
  string,
  string | null,
  string,
][]) {
  t.test(name, async t => {
    const kind = source.startsWith('<rss') || source.startsWith('<?xml') ? 'xml' : 'html'
    t.equal(
      decodeText(iconv.encode(source, encoding), { contentType, kind }),
      source.replace(/^\ufeff/, ''),
    )
  })
}

for (const label of DOCUMENTS.unknown) {
  t.test(`the label ${label} counts for nothing`, async t => {
    const contentType = `text/html; charset=${label}`
    for (const text of [page(label, LATIN), 'café.', '5 €'])
      t.equal(decodeText(iconv.encode(text, 'windows-1252'), { contentType, kind: 'html' }), text)
  })
}

for (const [name, bytes = '', text] of DOCUMENTS.bytes) {
  t.test(`a document that holds, or ends with, ${name}`, async t => {
    t.equal(decodeText(Buffer.from(bytes, 'latin1'), html), text)
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

t.test('the beginning of a document tells whether it is UTF-16', async t => {
  const text = `${'Ā'.repeat(25)}${'a'.repeat(231)}${'Ā'.repeat(300)}`
  t.equal(decodeText(iconv.encode(text, 'utf-16le'), html), text)
  const unmarked = `${'a'.repeat(256)}${'語'.repeat(300)}`
  t.equal(decodeText(iconv.encode(unmarked, 'utf-16le'), html), unmarked)
})

t.test('noise comes back as some text', async t => {
  t.type(
    decodeText(Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7919) % 256)), html),
    'string',
  )
})

t.test('bytes in the middle of a larger buffer are read from where they begin', async t => {
  const large = Buffer.from(`junk${page(null, TEXT)}junk`)
  t.ok(
    decodeText(new Uint8Array(large.buffer, large.byteOffset + 4, large.length - 8), html).endsWith(
      '</html>',
    ),
  )
})
