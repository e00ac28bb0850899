import t from 'tap'
import { stopwatch } from '../../../test/turns.ts'
import { blocksOf } from './blocks.ts'
import { type Element, isElement, MAX_DEPTH, MAX_ELEMENTS, MAX_MARKUP, parsePage } from './tree.ts'

const DEEP = 100_000

/** The largest number of elements that lie inside each other. */
const depth = (element: Element): number =>
  Math.max(0, ...element.children.filter(isElement).map(child => 1 + depth(child)))

const textsOf = (html: string) => blocksOf(parsePage(html).root).map(({ text }) => text)

t.test('a table or list of a thousand unclosed items is not deep', async t => {
  const html = `<table>${'<tr><td>a<td>b'.repeat(1_000)}</table><ul>${'<li><p>x'.repeat(50)}</ul>${'<p>x'.repeat(1_000)}`
  t.equal(textsOf(html).length, 3_050)
  t.ok(depth(parsePage(html).root) < 150)
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
  'end tags of nothing in deep elements': `${'<i>'.repeat(1_200)}${'</x>'.repeat(DEEP)}`,
  'upper case': '<DIV>'.repeat(DEEP),
}
for (const [name, html] of Object.entries(hostile)) {
  t.test(`${name}, ${DEEP} times, are cut to a depth that every stage bears, at once`, async t => {
    const took = stopwatch()
    const { root } = parsePage(html)
    t.ok(took() < 3_000, `${took()} ms`)
    t.ok(depth(root) <= MAX_DEPTH)
  })
}

t.test('the text of elements that are too deep stays, in its order', async t => {
  const deep = textsOf(`${'<div>'.repeat(1_000)}deep${'</div>'.repeat(1_000)}<p>after</p>`)
  t.same(deep, ['deep', 'after'])
})

t.test('markup behind the longest length or the last element is left out', async t => {
  t.same(textsOf(`<p>a</p><!--${'a'.repeat(MAX_MARKUP)}--><p>b</p>`), ['a'])
  t.equal(textsOf('<p>x</p>'.repeat(2 * MAX_ELEMENTS)).length, MAX_ELEMENTS)
})

t.test('an attribute or tag that never ends costs no time', async t => {
  const took = stopwatch()
  parsePage(`<p>text</p>${'<a b="'.repeat(DEEP)}`)
  parsePage('<a '.repeat(DEEP))
  parsePage('<h1 '.repeat(DEEP))
  parsePage(`<h1>${'x</b'.repeat(DEEP)}`)
  parsePage(`<h1>${'x'.repeat(MAX_MARKUP)}</h2>`)
  parsePage('<'.repeat(DEEP * 10))
  parsePage('<!--'.repeat(DEEP))
  t.ok(took() < 5_000, `${took()} ms`)
})

t.test('drawings are removed, and separate words', async t => {
  t.same(textsOf('<p>a<svg><path d="M0"/><g/></svg>b</p>'), ['a b'])
})

t.test('the end tag of another heading closes a heading', async t => {
  t.same(textsOf('<h2>One</h3>two<h1>Three</h1>'), ['One', 'two', 'Three'])
  t.same(textsOf('<h2 id=a>One <b>x</b></H1 >two</h4>'), ['One x', 'two'])
})
