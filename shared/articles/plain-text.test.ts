import t from 'tap'
import { boundMarks } from '../../search/analysis/text.ts'
import { stopwatch } from '../../test/turns.ts'
import { plainText } from './plain-text.ts'

t.test('tags are removed, blocks become paragraphs, entities are decoded once', async t => {
  t.equal(
    plainText('<h2>Kop</h2><p>Eén &amp; <b>twee</b>,\n drie.</p><ul><li>a</li><li>b</li></ul>&amp;lt;'),
    'Kop\n\nEén & twee, drie.\n\na\n\nb\n\n&lt;',
  )
  t.equal(plainText('regel 1<br>regel 2<br><br>alinea'), 'regel 1\nregel 2\n\nalinea')
})

t.test('scripts, styles and comments are no text', async t => {
  t.equal(plainText('<p>a</p><script>if (a < b) alert("x")</script><style>p{}</style><!-- no --><p>b</p>'), 'a\n\nb')
  t.equal(plainText('<p>a</p><script>never ends'), 'a')
})

t.test('text that only looks like markup is kept', async t => {
  for (const text of [
    'a < b en b > c',
    'x<y and y>z',
    'Gebruik het <b>-element; <script> is gevaarlijk.',
    'if (a<b && c>d) return;',
    '3 <4, 5> 2',
    'R&D; AT&T; &c.',
  ]) {
    t.equal(plainText(text), text)
  }
  t.equal(plainText('<p>a < b</p>'), 'a < b')
})

t.test('entities in plain text are decoded', async t => {
  t.equal(plainText('Stad &amp; Land: &euro; 5 &lt; &#8364; 6'), 'Stad & Land: € 5 < € 6')
})

t.test('control characters are no text; those above ASCII are signs of Windows-1252', async t => {
  for (const text of ['Brug\u0008 dicht\u0092s\u0000', '<p>Brug\u0008 dicht\u0092s</p>'])
    t.equal(plainText(text), 'Brug dicht’s')
})

t.test('the paragraphs of plain text stay, and a result goes in unchanged', async t => {
  const text = plainText('Eerste alinea.\r\n\r\n\r\nTweede  alinea,\nmet een regel.  ')
  t.equal(text, 'Eerste alinea.\n\nTweede alinea,\nmet een regel.')
  t.equal(plainText(text ?? ''), text)
})

t.test('nothing is null', async t => {
  t.equal(plainText(''), null)
  t.equal(plainText(' <p>&nbsp;</p> '), null)
})

t.test('a letter keeps thirty marks, and all else stays', async t => {
  const words = 'Zoë cafe\u0301 “Ja” الحكومة 新聞検索'.repeat(20)
  for (const marks of [1, 29, 30, 31, 100, 80_000]) {
    const text = `${words} a${'\u0301'.repeat(marks)}b`
    t.equal(boundMarks(text), `${words} a${'\u0301'.repeat(Math.min(marks, 30))}b`, `${marks} marks`)
    t.equal(plainText(`<p>${text}</p>`), boundMarks(text))
  }
  const took = stopwatch()
  boundMarks(`a${'\u0301'.repeat(29)}`.repeat(30_000))
  t.ok(took() < 400, `${took()} ms`)
})

t.test('a megabyte of nested, broken or endless markup takes a second of processor time at most', async t => {
  const nested = ['<div>', '<p><svg><svg>', '<a href="', '&amp']
  for (const tag of [...nested, '<img ', '<p ', '<div ', '</a ', '<br ', '<!-', '<b ', '&', '<a b="']) {
    const took = stopwatch()
    plainText(tag.repeat(1_000_000 / tag.length))
    t.ok(took() < 1_000, `${tag}: ${took()} ms`)
  }
})
