import t from 'tap'
import { stopwatch } from '#test/turns'
import { PAGE_LIMITS, plainText } from './plain-text.ts'

t.test('tags are removed, blocks become paragraphs, entities are decoded once', async t => {
  t.equal(
    plainText(
      '<h2>Kop</h2><p>Eén &amp; <b>twee</b>,\n drie.</p><ul><li>a</li><li>b</li></ul>&amp;lt;',
    ),
    'Kop\n\nEén & twee, drie.\n\na\n\nb\n\n&lt;',
  )
  t.equal(plainText('a<p>b</p>&amp'), 'a\n\nb\n\n&')
  t.equal(plainText('regel 1<br>regel 2<br><br>alinea'), 'regel 1\nregel 2\n\nalinea')
})

t.test('scripts, styles and comments are no text', async t => {
  t.equal(
    plainText(
      '<p>a</p><script>if (a < b) alert("x")</script><style>p{}</style><!-- no --><p>b</p>',
    ),
    'a\n\nb',
  )
  t.equal(plainText('<p>a</p><script>never ends'), 'a')
  t.equal(plainText('<p>a</p><template><b>x</b>y</template>z'), 'a\n\nz')
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
  t.equal(plainText('5 \u0080 \u009f\u0081'), '5 € Ÿ')
})

t.test('the paragraphs of plain text stay, and a result goes in unchanged', async t => {
  const text = plainText('Eerste alinea.\r\n\r\n\r\nTweede  alinea,\nmet een regel.  ')
  t.equal(text, 'Eerste alinea.\n\nTweede alinea,\nmet een regel.')
  t.equal(plainText(text ?? ''), text)
})

t.test('a letter keeps thirty marks, and ten million characters are read', async t => {
  t.equal(plainText(`<p>a${'\u0301'.repeat(99)}</p>`), `a${'\u0301'.repeat(30)}`)
  t.same(PAGE_LIMITS, { title: 500, body: 500_000 }, 'fewer are kept of a page')
  t.equal(plainText(`&amp;${'y'.repeat(10_000_000)}`)?.length, 9_999_996)
})

t.test('nothing is null', async t => {
  t.equal(plainText(''), null)
  t.equal(plainText(' <p>&nbsp;</p> '), null)
})

t.test(
  'a megabyte of nested, broken or endless markup takes a second of processor time at most',
  async t => {
    const nested = ['<div>', '<p><svg><svg>', '<a href="', '&amp']
    for (const tag of [
      ...nested,
      '<img ',
      '<p ',
      '<div ',
      '</a ',
      '<br ',
      '<!-',
      '<b ',
      '&',
      '<a b="',
    ]) {
      const took = stopwatch()
      plainText(tag.repeat(1_000_000 / tag.length))
      t.ok(took() < 1_000, `${tag}: ${took()} ms`)
    }
  },
)
