import { parseHTML } from 'linkedom'
import t from 'tap'
import { stopwatch } from '#test/turns'
import { boundMarkup, MAX_DEPTH, MAX_MARKUP, MAX_TAGS } from './bounds.ts'

const DEEP = 100_000

/** The largest number of elements that lie inside each other. */
function depth(html: string): number {
  const { document } = parseHTML(`<html><body>${html}</body></html>`)
  let deepest = 0
  for (const element of document.querySelectorAll('*')) {
    let level = 0
    for (let at: typeof element | null = element; at !== null; at = at.parentElement) level += 1
    deepest = Math.max(deepest, level)
  }
  return deepest
}

t.test('ordinary markup comes back unchanged', async t => {
  const html =
    '<!doctype html><p class="a>b">1 < 2 &amp; 3<br><b>bold<li>a<li>b<script>"</b><div>"</script><!-- <i> -->'
  t.ok(boundMarkup(html) === html)
})

t.test('a table or list of a thousand unclosed items is not deep', async t => {
  const html = `<table>${'<tr><td>a<td>b'.repeat(1_000)}</table><ul>${'<li><p>x'.repeat(50)}</ul>${'<p>x'.repeat(1_000)}`
  t.ok(boundMarkup(html) === html)
})

const hostile: Record<string, string> = {
  'nested divs': `${'<div>'.repeat(DEEP)}x${'</div>'.repeat(DEEP)}`,
  'unclosed inline elements': '<b>x'.repeat(DEEP),
  'self-closed elements': '<div/>'.repeat(DEEP),
  'elements of a drawing outside of one':
    '<svg><p></p></svg><g>'.repeat(1_000) + '<g/>'.repeat(DEEP),
  'paragraphs in list items': '<li><p>x'.repeat(DEEP),
  'a comment that ends early': `<!-->${'<div>'.repeat(DEEP)}-->`,
  'a script whose end tag has attributes': `<script></script x>${'<div>'.repeat(DEEP)}</script>`,
  'stray end tags': `${'<div>'.repeat(DEEP / 2)}${'</p>'.repeat(DEEP / 2)}`,
  'upper case': '<DIV>'.repeat(DEEP),
}
for (const [name, html] of Object.entries(hostile)) {
  t.test(`${name}, ${DEEP} times, are cut to a depth that parsers bear, at once`, async t => {
    const took = stopwatch()
    const bounded = boundMarkup(html)
    t.ok(took() < 1_000, `${took()} ms`)
    t.ok(depth(bounded) <= MAX_DEPTH + 2)
    t.ok(took() < 3_000, `${took()} ms`)
  })
}

t.test('the text of elements that are too deep stays, in its order', async t => {
  const bounded = boundMarkup(`${'<div>'.repeat(1_000)}deep${'</div>'.repeat(1_000)}<p>after</p>`)
  t.match(bounded, /deep\s*(<\/div>\s*)+<p>after<\/p>$/)
})

t.test('markup behind the longest length or the last tag is left out', async t => {
  t.equal(boundMarkup('a'.repeat(MAX_MARKUP + 5)).length, MAX_MARKUP)
  const many = boundMarkup(`${'<p>x</p>'.repeat(MAX_TAGS)}`)
  t.ok(many === '<p>x</p>'.repeat(MAX_TAGS / 2))
})

t.test('an attribute or tag that never ends costs no time', async t => {
  const took = stopwatch()
  boundMarkup(`<p>text</p>${'<a b="'.repeat(DEEP)}`)
  boundMarkup('<a '.repeat(DEEP))
  boundMarkup('<'.repeat(DEEP * 10))
  boundMarkup('<!--'.repeat(DEEP))
  t.ok(took() < 1_000, `${took()} ms`)
})

t.test('drawings are removed', async t => {
  t.equal(boundMarkup('<p>a<svg><path d="M0"/><g/></svg>b</p>').replaceAll(' ', ''), '<p>ab</p>')
})
