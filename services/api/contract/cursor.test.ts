import fc from 'fast-check'
import t from 'tap'
import type { Plan } from '#shared/plans/keys'
import { bindingFor, bindingOf, type Cursor, readCursor, signed, writeCursor } from './cursor.ts'
import { readRequest, spellingsOf } from './request.ts'

const secret = Buffer.alloc(32, 7)

const times = fc.date({
  min: new Date('1900-01-01'),
  max: new Date('2101-01-01'),
  noInvalidDate: true,
})
const values = fc.option(fc.integer({ min: -2_208_988_800_000, max: 4_133_980_800_000 }))
const ids = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 128 })
const words = {
  kind: fc.constant('words' as const),
  watermark: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  total: fc.integer({ min: 0, max: 10_000 }),
  estimate: fc.boolean(),
  last: fc.record({ value: values, score: fc.double({ noNaN: true }), id: ids }),
}
const cursors: fc.Arbitrary<Cursor> = fc.record({
  historyStart: times,
  at: fc.oneof(
    fc.record(words),
    fc.record({ ...words, removals: fc.integer({ min: 1, max: 2 ** 32 - 1 }) }),
    fc.record({
      kind: fc.constant('semantic' as const),
      setId: fc
        .uint8Array({ minLength: 12, maxLength: 12 })
        .map(bytes => Buffer.from(bytes).toString('base64url')),
      last: fc.record({ value: values, id: ids }),
    }),
  ),
})

t.test('decision 21: a cursor comes back as it was, and has at most 255 characters', async t => {
  fc.assert(
    fc.property(cursors, fc.string(), (cursor, binding) => {
      const text = writeCursor(secret, binding, cursor)
      t.ok(text.length <= 255)
      t.match(text, /^[\w-]+$/)
      t.strictSame(readCursor(secret, binding, text), structuredClone(cursor))
    }),
    { numRuns: 200 },
  )
})

t.test('decision 21: changed, cut, forged or foreign, it is none', async t => {
  fc.assert(
    fc.property(
      cursors,
      fc.string(),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (cursor, binding, place, change) => {
        const text = writeCursor(secret, binding, cursor)
        const bytes = Buffer.from(text, 'base64url')
        const at = place % bytes.length
        bytes.writeUInt8(bytes.readUInt8(at) ^ change, at)
        t.equal(
          readCursor(secret, binding, bytes.toString('base64url')),
          null,
          'a byte was changed',
        )
        t.equal(readCursor(secret, binding, text.slice(0, place % text.length)), null, 'it was cut')
        t.equal(readCursor(secret, binding, `${text}A`), null, 'it was lengthened')
        t.equal(readCursor(secret, `${binding} `, text), null, 'another request')
        t.equal(readCursor(Buffer.alloc(32, 8), binding, text), null, 'another service')
      },
    ),
    { numRuns: 100 },
  )
})

t.test('decision 21: a cursor has one spelling', async t => {
  const text = writeCursor(secret, '', {
    historyStart: new Date(0),
    at: { kind: 'semantic', setId: 'AAAAAAAAAAAAAAAA', last: { value: null, id: 'x' } },
  })
  for (const other of [
    `${text}=`,
    ` ${text}`,
    `${text.slice(0, 5)} ${text.slice(5)}`,
    text.replaceAll('A', '+'),
  ]) {
    t.equal(readCursor(secret, '', other), null, other)
  }
  t.equal(readCursor(secret, '', signed(secret, '', Buffer.alloc(0))), null)
})

t.test(
  'a cursor has the bytes that clients hold, and an id that it has no room for is named',
  async t => {
    const words = (id: string): Cursor => ({
      historyStart: new Date(1),
      at: {
        kind: 'words',
        watermark: 2n,
        total: 3,
        estimate: true,
        last: { value: 4, score: 0.5, id },
      },
    })
    const last = { value: null, id: 'x' }
    const semantic: Cursor = {
      historyStart: new Date(1),
      at: { kind: 'semantic', setId: 'AAAAAAAAAAAAAAAA', last },
    }
    t.same(
      [words('x'), semantic].map(cursor => writeCursor(secret, 'b', cursor)),
      [
        'AcTWutfGRoGj6nuPxQIqXNQEAAAAAAABAAAAAAAEP-AAAAAAAAAAAAAAAAAAAgADeA',
        'AdYwqoTnhQ8p7wG5lJ0uBNADAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAeA',
      ],
    )
    t.equal(writeCursor(secret, '', words('x'.repeat(143))).length, 255)
    t.throws(
      () => writeCursor(secret, '', words('x'.repeat(144))),
      /^The article id "x{144}" is too long/,
    )
  },
)

const plan: Plan = {
  countries: ['NL', 'BE'],
  history: { kind: 'fixed', at: new Date('2026-01-01T00:00:00Z') },
  rate: 60,
  quota: null,
}
const query = 'q=brug&country=BE,NL&per_page=4&has_author=no&published_after=2026-11-01'

t.test(
  'decision 21: the binding of a request stays as clients hold it in their cursors',
  async t => {
    t.equal(
      bindingOf(readRequest(query, 'articles'), plan),
      '["articles","keyword","brug","title","published_at","desc",4,["NL","BE"],null,false,null,null,1793491200000,null,null,["BE","NL"],1767225600000]',
    )
  },
)

t.test(
  'decision 21: a parameter that is added binds the requests that give it, and no others',
  async t => {
    const request = readRequest(query, 'articles')
    const withAdded = (bound: unknown) => ({
      ...spellingsOf(request),
      section: { bound, written: null },
    })
    t.equal(bindingFor(withAdded(null), plan), bindingOf(request, plan))
    const bindings = ['sport', 'politics'].map(section => bindingFor(withAdded(section), plan))
    t.equal(new Set([bindingOf(request, plan), ...bindings]).size, 3)
    const added = ['b', 'a'].map(name => [name, { bound: 1, written: null }])
    t.match(
      bindingFor({ ...Object.fromEntries(added), ...spellingsOf(request) }, plan),
      /,\["a",1\],\["b",1\]\]$/,
    )
  },
)
