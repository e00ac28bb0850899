import t from 'tap'
import { composeArticle } from '#services/normaliser/compose'
import { feedEntry, jsonLd, OUTLET, storedPage } from '#test/normaliser/pages'
import { textInData } from './page-data.ts'

/* The text of pages that a script builds, with inputs of our own. */

const TITLE = 'Stadsbos van Lokeren krijgt twaalf hectare bij'
const SUMMARY = 'Het bos wordt groter.'
const PROSE = [
  'Het stadsbos van Lokeren krijgt er deze winter twaalf hectare bij, heeft het schepencollege maandag beslist.',
  'Vrijwilligers planten vanaf december negenduizend eiken en linden op een akker die de stad vorig jaar kocht.',
  'De boswachter verwacht dat de eerste wandelpaden over vijf jaar open kunnen, als de jonge bomen sterk zijn.',
]
const WHOLE = PROSE.join('\n\n')
const HTML = PROSE.map(text => `<p>${text}</p>`).join('')
const URL_ = 'https://dagkoerier.example/a/1'

const json = (value: unknown) => `<script type="application/json">${JSON.stringify(value)}</script>`
const sought = { titles: [TITLE], url: URL_, free: false }
const read = (scripts: string, given: Partial<typeof sought> = {}) =>
  textInData(scripts, { ...sought, ...given })
const readIn = (article: object) => read(json({ props: { article: { title: TITLE, ...article } } }))

t.test('text is read by its structure, whatever the editor', t => {
  const halves = (text: string) => [text.slice(0, 40), text.slice(40)]
  const forms: Record<string, object> = {
    HTML: { body: HTML },
    'HTML escaped once more': { body: HTML.replaceAll('<', '&lt;').replaceAll('>', '&gt;') },
    lines: { text: PROSE.join('\n\n') },
    texts: { paragraphs: PROSE },
    blocks: { blocks: PROSE.map(text => ({ type: 'paragraph', text })) },
    'blocks with data': {
      content: { blocks: PROSE.map(text => ({ type: 'paragraph', data: { text } })) },
    },
    spans: {
      body: PROSE.map(text => ({
        _type: 'block',
        children: halves(text).map(half => ({ _type: 'span', text: half })),
      })),
    },
    'a tree with links': {
      body: {
        type: 'doc',
        content: PROSE.map(text => ({
          type: 'paragraph',
          content: [
            { type: 'text', text: text.slice(0, 9) },
            { type: 'link', content: [{ type: 'text', text: text.slice(9, 20) }] },
            { type: 'text', text: text.slice(20) },
          ],
        })),
      },
    },
    'a text and its lead': {
      lead: PROSE[0],
      body: PROSE.slice(1)
        .map(text => `<p>${text}</p>`)
        .join(''),
    },
  }
  for (const [name, article] of Object.entries(forms)) t.equal(readIn(article), WHOLE, name)
  t.equal(
    readIn({
      blocks: [...PROSE, { type: 'list', items: ['Het plan is klaar.', 'De stad betaalt.'] }],
    }),
    `${WHOLE}\n\nHet plan is klaar.\n\nDe stad betaalt.`,
  )
  t.equal(
    readIn({ blocks: [...PROSE, { type: 'image', text: 'Een foto van het bos in de winter.' }] }),
    WHOLE,
  )
  t.end()
})

t.test('data stand in scripts as JSON, as a value or as a text', t => {
  const state = { article: { title: TITLE, body: HTML } }
  const written = JSON.stringify(state)
  const single = written.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
  for (const code of [
    `window.__STATE__ = ${written};`,
    `var a={"small":1};var b=${written};if (b) { render(b) }`,
    `a.b=JSON.parse(${JSON.stringify(written)})`,
    `a.b=JSON.parse('${single}')`,
    `x=${written.replace('{', '{"user":undefined,')}`,
    `<!--${written}-->`,
  ])
    t.equal(read(`<script>${code}</script>`), WHOLE, code.slice(0, 40))
  t.equal(read(`${json({ title: 'De Dagkoerier', languages: ['nl', 'fr'] })}${json(state)}`), WHOLE)
  t.equal(read(`<script>x=${written}`), null, 'a script that never ends')
  t.end()
})

t.test('only the object with the title or the address of the page has its text', t => {
  t.equal(read(json({ a: { path: '/a/1', body: HTML } })), WHOLE)
  t.equal(read(json({ a: { headline: 'Stadsbos Lokeren krijgt hectare bij', body: HTML } })), WHOLE)
  t.equal(read(json({ a: { title: 'Brug over de Durme blijft dicht', body: HTML } })), null)
  t.equal(read(json({ a: { path: '/a/2', body: HTML } })), null)
  const people = PROSE.map((text, at) => ({ author: `Lezer ${at}`, text }))
  const teasers = PROSE.map((text, at) => ({ url: `/t/${at}`, text }))
  for (const others of [
    { comments: PROSE },
    { thread: { content: people } },
    { content: teasers },
    { latest: { title: 'Brug over de Durme blijft dicht', body: HTML } },
    { cookieText: HTML },
    { author: { name: 'Jan Maes', body: HTML } },
    { body: [PROSE[0]] },
    { body: HTML.replace(/[a-z]/g, letter => (letter === 'p' ? 'p' : 'q')) },
  ])
    t.equal(readIn(others), null, JSON.stringify(others).slice(0, 60))
  t.end()
})

t.test('any sign of a wall or of a paid part forbids the text', t => {
  const paid = [
    { isPremium: true },
    { isAccessibleForFree: 'False' },
    { access: 'subscribers' },
    { content_restrictions: { content_code: 'premium' } },
    { badge: { text: 'Plus' } },
    { flags: ['subscriber-only'] },
    { metered: true },
    { hasFullAccess: false },
    { payant: 'oui' },
  ]
  for (const sign of paid) t.equal(readIn({ body: HTML, ...sign }), null, JSON.stringify(sign))
  t.equal(readIn({ blocks: [...PROSE, { type: 'paywall' }] }), null)
  t.equal(readIn({ blocks: [...PROSE, { type: 'text', payant: true }] }), null)
  t.equal(read(json({ abo: 1, article: { title: TITLE, body: HTML } })), null)
  const wall = '<script src="https://cdn.tinypass.com/api/tinypass.min.js"></script>'
  const free = (article: object) => json({ article: { title: TITLE, body: HTML, ...article } })
  t.equal(read(wall + free({})), null)
  t.equal(read(wall + free({ isPremium: false })), WHOLE)
  t.equal(read(wall + free({ accessType: 'free' })), WHOLE)
  t.equal(read(wall + free({}), { free: true }), WHOLE)
  t.equal(readIn({ body: HTML.replace('<p>', '<p data-nosnippet>') }), null)
  t.end()
})

t.test('a page takes the text in its data only when it shows none of its own', async t => {
  const bodyOf = async (inside: string, head = '') => {
    const entry = feedEntry({ url: URL_, title: TITLE, summary: SUMMARY })
    const html = `<!doctype html><html lang="nl"><head><title>${TITLE} | De Dagkoerier</title>${head}</head><body>${inside}${json({ article: { title: TITLE, body: HTML } })}</body></html>`
    const made = await composeArticle(
      storedPage(html, { entry, outlet: OUTLET }),
      new Date('2026-11-25T12:00:00Z'),
    )
    return made.kind === 'article' ? [made.article.body, made.origins.text.source] : made.reason
  }
  t.same(await bodyOf('<div id="app">Laden…</div>'), [WHOLE, 'script'])
  const shown = `<article><h1>${TITLE}</h1><p>${PROSE[0]}</p></article>`
  t.same(await bodyOf(shown), [PROSE[0], 'page'])
  const filling =
    '<main><p>Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do.</p></main>'
  t.same(await bodyOf(filling), [WHOLE, 'script'])
  const footer = `<footer><p>De Dagkoerier is een krant uit Gent, met een redactie van zestig mensen op de kaai.</p></footer>`
  t.same(await bodyOf(footer), [WHOLE, 'script'])
  const stated = (free: boolean) =>
    jsonLd({ '@type': 'NewsArticle', headline: TITLE, isAccessibleForFree: free })
  t.same(await bodyOf('', stated(true)), [WHOLE, 'script'])
  t.same(await bodyOf('', stated(false)), [SUMMARY, 'summary'])
  const tier = (is: string) => `<meta property="article:content_tier" content="${is}">`
  t.same(await bodyOf('', tier('metered')), [SUMMARY, 'summary'])
  const offer = `<main><h1>${TITLE}</h1><p>Dit artikel is alleen voor abonnees. Word abonnee om verder te lezen.</p></main>`
  t.same(await bodyOf(offer), [SUMMARY, 'summary'])
})

t.test('large and broken data take little time', t => {
  const others = Array.from(
    { length: 60_000 },
    (_, at) => `{"name":"Bos ${at} in de stad","url":"/${at}"}`,
  )
  for (const code of [
    `x={"title":"${TITLE}","l":[${others.join()}]}`,
    `x={"title":"${TITLE}","blocks":[${'"<b></b>",'.repeat(300_000)}""]}`,
    '={'.repeat(1_500_000),
    'JSON.parse("'.repeat(200_000),
    `x=${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ])
    t.equal(read(`<script>${code}</script>`), null, code.slice(0, 20))
  t.equal(read('<script>'.repeat(500_000)), null)
  t.end()
})
