import t from 'tap'
import type { StoredPage } from '#shared/outlets/page'
import { feedEntry, storedPage } from '#test/normaliser/pages'
import { type Composition, composeArticle } from './compose.ts'
import NO_SIGNALS from './no-signals.json' with { type: 'json' }

const NOW = new Date('2026-11-25T12:00:00Z')
const TITLE = 'Brug over de Schelde blijft dicht'
const FIRST = 'De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor zwaar verkeer.'
const SECOND =
  'Dat heeft het agentschap Wegen en Verkeer dinsdag bekendgemaakt na een inspectie van de pijlers.'
const THIRD =
  'Vrachtwagens moeten omrijden via de tunnel bij Antwerpen, wat drie kwartier langer duurt.'
const ENTRY = feedEntry({ title: TITLE, summary: `<p>${FIRST}</p>` })

const page = (head: string, ...paragraphs: string[]) =>
  `<!doctype html><html lang="nl"><head><title>${TITLE}</title>${head}</head><body><article><h1>${TITLE}</h1>${paragraphs
    .map(paragraph => (paragraph.startsWith('<') ? paragraph : `<p>${paragraph}</p>`))
    .join('')}</article></body></html>`

const WHOLE = [FIRST, SECOND, THIRD]
const compose = (html: string | null, given: Partial<StoredPage> = {}) =>
  composeArticle(storedPage(html, { entry: ENTRY, ...given }), NOW)
const tagged = (...lists: string[]) => ({ rights: { 'x-robots-tag': lists } })

const outcomeOf = (composition: Composition) =>
  composition.kind === 'refused' ? composition.reason : (composition.interstitial ?? 'article')
/**
 * The snippet of an article. Undefined: the index makes the snippet from the beginning of the body.
 */
function snippetOf(composition: Composition) {
  if (composition.kind === 'refused') throw new Error(composition.detail)
  return composition.article.snippet
}

t.test(
  'decision 41: a page that is kept out of indexes gives no article, not even of the feed’s words',
  async t => {
    for (const head of [
      '<meta name="robots" content="noindex">',
      '<META NAME="Robots" CONTENT="NONE">',
    ])
      t.match(
        await compose(page(head, ...WHOLE)),
        { kind: 'refused', reason: 'rights', interstitial: null },
        head,
      )
    t.match(await compose(page('', ...WHOLE), tagged('noindex')), {
      kind: 'refused',
      reason: 'rights',
      detail: 'Its outlet keeps it out of indexes: noindex (header).',
      rights: { seen: [{ signal: 'noindex', source: 'header' }] },
    })
    const past = tagged('unavailable_after: 24 Nov 2026 15:00:00 GMT')
    t.equal(outcomeOf(await compose(page('', ...WHOLE), past)), 'rights')
    const inBody = page('', ...WHOLE).replace(
      '</article>',
      '</article><meta name="robots" content="noindex">',
    )
    t.equal(outcomeOf(await compose(inBody)), 'rights', 'the rule of a tag in the body holds')
    const links =
      '<nav><a href="/">Nieuws</a> <a href="/sport">Sport</a> <a href="/regio">Regio</a></nav><script>x()</script>'
    const short = `<html><head><title>In memoriam</title></head><body>${links}<p>Foto: Belga</p></body></html>`
    t.equal(
      outcomeOf(await compose(short, tagged('noindex'))),
      'rights',
      'a short page that leads on is no challenge',
    )
    const text = { ...tagged('noindex'), contentType: 'text/plain' }
    t.equal(
      outcomeOf(await compose(WHOLE.join('\n\n'), text)),
      'rights',
      'a page without markup has headers, too',
    )
  },
)

t.test('uses that are not allowed end an article or its vector, and a licence is told', async t => {
  const usage = (...statements: string[]) => ({ rights: { 'content-usage': statements } })
  t.equal(outcomeOf(await compose(page('', ...WHOLE), usage('search=n'))), 'rights')
  const licence =
    '<link rel=license href="https://krant.example/licentie"><script type="application/rsl+xml"></script>'
  t.match(await compose(page(licence, ...WHOLE), usage('search=y, ai-use=n, train-ai=n')), {
    rights: {
      wordsAloneBy: { signal: 'ai-use=n', source: 'header' },
      seen: [
        {},
        {},
        {},
        { signal: 'licence:https://krant.example/licentie' },
        { signal: 'licence:RSL, in the page' },
      ],
    },
  })
})

t.test('what is no signal for us changes nothing', async t => {
  for (const head of NO_SIGNALS) {
    const composition = await compose(page(head, ...WHOLE), tagged('otherbot: noindex', 'all'))
    t.equal(outcomeOf(composition), 'article', head)
    t.equal(snippetOf(composition), undefined, head)
  }
  t.equal(
    outcomeOf(
      await compose(page('', FIRST, SECOND, 'De code heeft noindex in de robots, zei hij.')),
    ),
    'article',
  )
})

t.test('an interstitial is judged first: what it forbids it forbids of itself', async t => {
  const challenge = `<html><head><title>Just a moment...</title><meta name="robots" content="noindex,nofollow"></head>
    <body><script src="/cdn-cgi/challenge-platform/x.js"></script><p>Enable JavaScript and cookies to continue</p></body></html>`
  for (const rights of [{}, tagged('noindex')]) {
    t.equal(outcomeOf(await compose(challenge, rights)), 'challenge')
    t.equal(outcomeOf(await compose(null, { ...rights, status: 403 })), 'forbidden')
  }
  const unlisted =
    '<html><head><title>Momentje</title></head><body><script>1</script><p>Wij kijken even.</p></body></html>'
  t.equal(
    outcomeOf(await compose(unlisted, tagged('noindex, nosnippet'))),
    'challenge',
    'by its header alone',
  )
  const soldHere = page(
    '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false}</script>',
    FIRST,
    'Verder lezen? Neem een abonnement.',
  )
  t.equal(
    outcomeOf(await compose(soldHere, tagged('noindex'))),
    'rights',
    'a paywall stands on the article’s own page',
  )
})

t.test(
  'decision 41: nosnippet leaves no snippet, max-snippet a short one, and the text is searched',
  async t => {
    const none = await compose(page('<meta name="robots" content="nosnippet">', ...WHOLE))
    t.equal(snippetOf(none), null)
    t.equal(none.kind === 'article' && none.article.body, WHOLE.join('\n\n'))
    t.equal(snippetOf(await compose(page('', ...WHOLE), tagged('max-snippet:11'))), 'De brug ove')
    t.equal(snippetOf(await compose(page('', ...WHOLE), tagged('max-snippet:7'))), 'De brug')
    t.equal(
      snippetOf(await compose(page('', ...WHOLE), tagged('max-snippet:500'))),
      undefined,
      'never more than 200',
    )
    const alone = page('', '<div></div>')
    t.equal(
      snippetOf(await compose(alone, tagged('max-snippet:8'))),
      'De brug',
      'of the feed’s text likewise',
    )
    const accents = page('', `e\u0301te\u0301 ${SECOND}`, THIRD)
    t.equal(
      snippetOf(await compose(accents, tagged('max-snippet:1'))),
      null,
      'never half a grapheme',
    )
  },
)

t.test('decision 41: parts with data-nosnippet never stand in the snippet', async t => {
  const parts: [string[], string | null][] = [
    [[`<p data-nosnippet>${FIRST}</p>`, SECOND, THIRD], SECOND],
    [[`<div data-nosnippet><p>${FIRST}</p></div>`, SECOND, THIRD], SECOND],
    [
      [
        `<p>De brug <span data-nosnippet="">over de Schelde in Temse</span> blijft zeker tot vrijdag dicht voor zwaar verkeer.</p>`,
        SECOND,
        THIRD,
      ],
      'De brug blijft zeker tot vrijdag dicht voor zwaar verkeer.',
    ],
    [
      [
        `<p>De brug <span data-nosnippet>over de Schelde in Temse</span> <span class="share-buttons">Deel</span> blijft zeker tot vrijdag dicht voor zwaar verkeer.</p>`,
        SECOND,
        THIRD,
      ],
      'De brug blijft zeker tot vrijdag dicht voor zwaar verkeer.',
    ],
    [[`<section data-nosnippet>${WHOLE.map(text => `<p>${text}</p>`).join('')}</section>`], null],
  ]
  for (const [paragraphs, first] of parts) {
    const composition = await compose(page('', ...paragraphs))
    const snippet = snippetOf(composition)
    t.equal(first === null ? snippet : snippet?.slice(0, first.length), first, `${paragraphs[0]}`)
    t.match(
      composition.kind === 'article' && composition.article.body,
      /Temse/,
      'the text is searched whole',
    )
    t.notMatch(snippet ?? '', /Temse/)
  }
  const short = await compose(
    page('', `<p data-nosnippet>${FIRST}</p>`, SECOND, THIRD),
    tagged('max-snippet:3'),
  )
  t.equal(snippetOf(short), 'Dat')
  const footer = `${page('', ...WHOLE).replace('</body>', '<footer data-nosnippet><p>© De Dagkoerier</p></footer></body>')}`
  t.match(
    snippetOf(await compose(footer)) ?? FIRST,
    /^De brug over de Schelde/,
    'elsewhere it costs nothing',
  )
})

t.test('a text that is not the page’s shows nothing of a marked part', async t => {
  const json = JSON.stringify({
    '@type': 'NewsArticle',
    headline: TITLE,
    articleBody: `${WHOLE.join(' ')} `.repeat(4),
  })
  const head = `<script type="application/ld+json">${json}</script>`
  const stated = (marked: string) => compose(page(head, `<p data-nosnippet>${marked}</p>`))
  t.equal(snippetOf(await stated(FIRST)), null)
  t.match(snippetOf(await stated('Foto: Belga')), /^De brug over/)
  const divided = head.replaceAll('over de Schelde', 'over\u2019 de <br><br> Schelde')
  t.equal(
    snippetOf(await compose(page(divided, `<p data-nosnippet>${FIRST}</p>`))),
    null,
    'divided otherwise',
  )
  const entry = {
    ...ENTRY,
    summary: null,
    content: `<p>${SECOND}</p><p DATA-nosnippet>${FIRST}</p>`,
  }
  t.equal(snippetOf(await compose(null, { entry, status: 403 })), null)
})
