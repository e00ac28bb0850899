import t from 'tap'
import { snippetOf } from './text.ts'

t.test('decision 33: a snippet is the first 200 code points with single spaces', async t => {
  t.equal(snippetOf(null), null)
  t.equal(snippetOf(' \n\t\u00a0'), null)
  t.equal(snippetOf(' Eén  zin.\r\n\r\nNog een. '), 'Eén zin. Nog een.')
  t.equal(snippetOf(`${'a'.repeat(199)} bc`), 'a'.repeat(199), 'without space at its end')
  t.equal(snippetOf('woord   '.repeat(100)), 'woord '.repeat(100).slice(0, 200).trimEnd())
  t.equal(snippetOf(`${' '.repeat(5_000)}${'x'.repeat(201)}`), 'x'.repeat(200))
  t.equal(snippetOf('ж'.repeat(300)), 'ж'.repeat(200))
  t.equal(snippetOf('😀'.repeat(250)), '😀'.repeat(200), 'code points, not code units')
})

t.test('decision 33: a snippet ends with a whole grapheme', async t => {
  t.equal(snippetOf(`${'a'.repeat(200)}\u0301b`), 'a'.repeat(199), 'its accent would be one too many')
  t.equal(snippetOf(`${'a'.repeat(199)}👨‍👩‍👧b`), 'a'.repeat(199))
  t.equal(snippetOf(`${'a'.repeat(195)}👨‍👩‍👧b`), `${'a'.repeat(195)}👨‍👩‍👧`)
})
