import t from 'tap'
import { type Element, parsePage, walk } from '#services/normaliser/markup/tree'
import { isBoilerplate, isConsent, isHidden, prunedIn } from './prune.ts'

const named = (className: string, attributes: Record<string, string> = {}, name = 'div') => {
  const { $, root } = parsePage(`<${name}>`)
  return $(root)
    .children()
    .attr({ class: className, ...attributes })
    .get(0)!
}

t.test(
  'boilerplate is known by its name, in the languages that class names are written in',
  async t => {
    for (const name of [
      ...'share-buttons c-byline__date figure-bijschrift legende lees-ook lire-aussi mehr-zum-thema nieuwsbrief-blok inlineSignup comments-area reacties relatedArticles tags sr-only go-vh navbar'.split(
        ' ',
      ),
      'o-advertentie ad-slot',
    ]) {
      t.equal(isBoilerplate(named(name)), true, name)
    }
    t.equal(isBoilerplate(named('x', { role: 'navigation' })), true)
    t.equal(isBoilerplate(named('x', { 'data-component': 'byline-block' })), true)
    t.equal(isBoilerplate(named('x', {}, 'figcaption')), true)
    t.equal(isBoilerplate(named('x', { 'aria-label': 'Newsletter Anmeldung' }, 'section')), true)
  },
)

t.test('names that only look alike are the article’s', async t => {
  for (const name of [
    ...'article-body commentary sidebar-grid__content paragraph header-image-shadow story-headline shareholders download min-vh-100'.split(
      ' ',
    ),
    'has-sidebar main',
    'page-layout has-leading-ad',
  ]) {
    t.equal(isBoilerplate(named(name)), false, name)
  }
  t.equal(
    isBoilerplate(named('x', { 'aria-label': 'Poll: who leads in the south' }, 'section')),
    false,
  )
  t.equal(isBoilerplate(named('', { id: '706e8b39-28d3-4466-a15c-40db356813ad' })), false)
  t.equal(isBoilerplate(named('post hentry tag-share category-newsletter', {}, 'article')), false)
})

t.test('consent dialogs and hidden elements', async t => {
  t.equal(isConsent(named('cookie-law-info-bar')), true)
  t.equal(isConsent(named('', { id: 'onetrust-banner-sdk' })), true)
  t.equal(isConsent(named('cookies-recipe')), false)
  t.equal(isHidden(named('', { style: 'color:red; display: none' })), true)
  t.equal(isHidden(named('', { style: 'border:0;clip:rect(0 0 0 0);width:1px' })), true)
  t.equal(isHidden(named('', { style: 'clip: rect(10px, 20px, 30px, 0)' })), false)
  t.equal(isHidden(named('', { hidden: '' })), true)
  t.equal(isHidden(named('', { 'amp-access': 'NOT data.access' }, 'section')), true)
  t.equal(isHidden(named('', { style: 'display:block' })), false)
})

t.test('parts that readers unfold are read together, however deep they stand in each other', t => {
  const sentence = 'De brug over de Schelde blijft tot vrijdag dicht voor vrachtwagens. '.repeat(3)
  /** How often the children of an element are read, on average. */
  const readings = (depth: number) => {
    const { root } = parsePage(
      `<article>${'<div hidden role="region">'.repeat(depth)}${'<p>x</p>'.repeat(500)}<p>${sentence}`,
    )
    const all: Element[] = []
    walk(root, element => {
      all.push(element)
    })
    let reads = 0
    for (const element of all) {
      const { children } = element
      Object.defineProperty(element, 'children', {
        get: () => {
          reads += 1
          return children
        },
      })
    }
    t.equal(prunedIn(root).size, 0)
    return reads / all.length
  }
  t.ok(readings(150) < 2 * readings(2), `${readings(150)}, ${readings(2)}`)
  t.end()
})
