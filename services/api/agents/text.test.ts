import t from 'tap'
import { answerText, DATA_NOTE, linesText, link, pageText, plain } from './text.ts'

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

t.test('a text of an outlet is one line that nothing reads as markup', async t => {
  for (const [given, most, shown] of [
    [' a\n\u00a0b\u2028c\t', 9, 'a b c'],
    ['a\u200bb\u202ec\u0007', 9, 'abc'],
    ['![x](y) <b>`c`\\ "d" “e” · f', 99, "!(x)(y) ‹b›'c'/ 'd' 'e' - f"],
    ['abcd', 4, 'abcd'],
    ['abcde', 4, 'abc…'],
    ['ab𝐀c', 4, 'ab…'],
    ['ab𝐀cd', 5, 'ab𝐀…'],
  ] as const)
    t.equal(plain(given, most), shown, given)
})

const article = {
  id: 'art_1',
  title: 'Brug “dicht”',
  url: 'https://a.example/x',
  snippet: 'Sinds vandaag.',
  published_at: '2026-11-20T08:00:00Z',
  ingested_at: null,
  authors: [],
  language: 'nl' as const,
  country: 'NL' as const,
  outlet: { name: 'De Krant', domain: 'a.example' },
}
const LINE =
  "“Brug 'dicht'” · De Krant, a.example · NL, nl, 2026-11-20T08:00:00Z · id art_1 · https://a.example/x · “Sinds vandaag.”"

t.test('a page is a head, and a numbered line for each article', async t => {
  t.equal(pageText(['a', 'b'], [article, article]), `a\nb\n1. ${LINE}\n2. ${LINE}`)
  const bare = {
    ...article,
    url: 'javascript:1',
    snippet: null,
    published_at: null,
    outlet: { name: null, domain: null },
    relevance: 0.5,
  }
  const line = "“Brug 'dicht'” ·  · NL, nl, no date · relevance 0.5 · id art_1"
  t.equal(pageText([], [bare]), `\n1. ${line}`)
  const stated = { section: 'x'.repeat(50), kind: 'news' as const, access: 'paid' as const }
  const section = `${'x'.repeat(39)}…`
  t.match(pageText([], [{ ...bare, ...stated }]), `no date · ${section} · news · paid · relevance`)
  t.equal(pageText(['x'.repeat(1_001)], []), `${'x'.repeat(999)}…`)
  t.equal(pageText(['x'.repeat(1_000)], []), 'x'.repeat(1_000))
})

t.test('a line keeps within 490 characters: the address goes first, then the snippet', async t => {
  const parts = (change: object) =>
    pageText([], [{ ...article, ...change }])
      .slice(4)
      .split(' · ')
  const long = (n: number) => 'a'.repeat(n)
  t.equal(parts({ title: long(200) })[0], `“${long(159)}…”`)
  t.equal(parts({ outlet: { name: long(50), domain: long(50) } })[1], `${long(39)}…, ${long(39)}…`)
  t.equal(parts({ id: long(200) })[3], `id ${long(127)}…`)
  t.equal(parts({ snippet: long(300) }).at(-1), `“${long(199)}…”`)
  const before = LINE.indexOf(' · https')
  const most = 490 - before - 5
  const url = (length: number) => `https://a.example/${long(length - 18)}`
  t.equal(parts({ url: url(most), snippet: null }).at(-1), url(most))
  t.equal(parts({ url: url(most + 1), snippet: null }).at(-1), 'id art_1')
  t.equal(parts({ url: url(most + 1) }).at(-1), '“Sinds vandaag.”')
  // No snippet has 20 characters or fewer because of the room alone.
  t.equal(parts({ url: url(most - 3 - 21), snippet: long(99) }).at(-1)?.length, 23)
  t.match(parts({ url: url(most - 3 - 20), snippet: long(99) }).at(-1), /^https/)
})

t.test('other answers begin with the note that texts are data, and end in time', async t => {
  t.equal(
    linesText('head', ['a\nb', 'x'.repeat(501)]),
    `${DATA_NOTE}\nhead\na b\n${'x'.repeat(499)}…`,
  )
  t.equal(linesText('y'.repeat(7_000), []).length, 6_000)
  t.equal(
    answerText({ title: 'a\nb', of: [article], n: 1, none: null }),
    `${DATA_NOTE}\n${JSON.stringify({ title: 'a b', of: [LINE], n: 1, none: null })}`,
  )
  const texts = { a: 'x'.repeat(501), snippet: 'no article' }
  t.equal(answerText(texts), `${DATA_NOTE}\n{"a":"${'x'.repeat(499)}…","snippet":"no article"}`)
  t.equal(answerText({ all: Array(99).fill('x'.repeat(99)) }).length, 6_000)
})
