import fc from 'fast-check'
import t from 'tap'
import { readQueryString, type WrittenParameter } from './query-string.ts'

const cases: [about: string, raw: string, written: WrittenParameter[]][] = [
  ['a name alone has an empty value', 'q', [{ name: 'q', value: '' }]],
  ['the first = separates', 'q=a=b', [{ name: 'q', value: 'a=b' }]],
  ['raw UTF-8, as Node hands it on', 'q=\u00c3\u00a9', [{ name: 'q', value: 'é' }]],
]

for (const [about, raw, written] of cases) {
  t.test(`decision 9: ${about}`, async t => {
    t.strictSame(readQueryString(raw), written)
  })
}

const unreadable: [about: string, raw: string, name: string][] = [
  ['an escape that is none', 'q=%zz', 'q'],
  ['IIS escapes', 'q=%u00e9', 'q'],
  ['a NUL', 'q=a%00b', 'q'],
  ['a lone surrogate', 'q=%ED%A0%80', 'q'],
  ['an overlong NUL', 'q=%C0%80', 'q'],
  ['half a character', 'q=%C3', 'q'],
  ['a broken name, read as far as it can be', 'coun%zztry=NL', 'coun'],
  ['a NUL in a name', 'q%00x=1', 'q'],
  ['a name of which nothing can be read, as written', '%zz=1', '%zz'],
]

for (const [about, raw, name] of unreadable) {
  t.test(`decision 11: ${about} is reported under its name`, async t => {
    const [written] = readQueryString(raw)
    t.equal(written?.name, name)
    t.ok(written && 'unreadable' in written)
  })
}

t.test('decision 9: whatever is encoded comes back, in its order', async t => {
  const names = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter(name => !name.includes('\0') && name.isWellFormed())
  fc.assert(
    fc.property(fc.array(fc.tuple(names, names)), pairs => {
      const written = readQueryString(new URLSearchParams(pairs).toString())
      const meant = pairs.map(([name, value]) => ({ name, value }))
      t.strictSame(written, meant)
    }),
  )
})

t.test('decision 11: no query string throws', async t => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('%', '0', 'C', '3', '&', '=', '+', 'é', '[', ']', '\x7f') }), raw => {
      t.doesNotThrow(() => readQueryString(raw))
    }),
  )
})

t.test('thousands of parameters are not read, and that is said', async t => {
  const written = readQueryString('a=1&'.repeat(5_000))
  t.equal(written.length, 257)
  t.match(written.at(-1), { name: 'a', unreadable: /256 parameters/ })
  t.equal(readQueryString('a=1&'.repeat(256)).filter(one => 'unreadable' in one).length, 0)
})
