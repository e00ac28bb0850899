import t from 'tap'
import { parsePage, upwards, walk } from '#services/normaliser/markup/tree'
import { tryRows } from '#test/examples'
import TABLE from './page-text.json' with { type: 'json' }
import { readPageText } from './page-text.ts'

const LEAD =
  'Twaalf dorpen langs de Maas krijgen hogere dijken, heeft de waterraad dinsdag na jaren overleg besloten.'
const BODY = [
  'De werken beginnen in het voorjaar en duren naar verwachting vier jaar, zegt dijkgraaf Els Vermeer.',
  'Volgens de waterraad stijgt de rivier bij hevige regen tegenwoordig sneller dan de oude dijken aankunnen.',
  'Bewoners van Roosteren vrezen dat zij jarenlang last krijgen van vrachtwagens en van stof.',
]
const TITLE = 'Twaalf dorpen langs de Maas krijgen hogere dijken'

const page = (body: string, head = '') =>
  `<!doctype html><html><head><title>${TITLE} | De Maaskoerier</title>${head}</head><body>${body}</body></html>`
const paragraphs = BODY.map(text => `<p>${text}</p>`).join('\n')
const read = (html: string) => readPageText(parsePage(html)).paragraphs

t.test(
  'paragraphs, headings, lists and quotations are the text; everything around them is not',
  async t => {
    const html = page(`
    <header class="site-header"><nav><ul><li><a href="/">Voorpagina</a></li><li><a href="/sport">Sport</a></li></ul></nav></header>
    <main><article>
      <h1>${TITLE}</h1>
      <div class="article-meta"><span>Door Piet Janssen</span><time>17 november 2026, 09:30</time></div>
      <figure><img src="dijk.jpg"><figcaption>De dijk bij Roosteren, vorige week bij hoog water. Foto: An Claes</figcaption></figure>
      <p>${BODY[0]}</p>
      <h2>Sneller dan vroeger</h2>
      <p>${BODY[1]}</p>
      <div class="share-buttons"><a href="#">Deel op WhatsApp</a></div>
      <p>Lees ook: <a href="/oud">Waterraad wil hogere dijken langs de Maas</a></p>
      <blockquote>${BODY[2]}</blockquote>
      <ul><li>Het eerste dorp is Roosteren, waar de oudste dijk ligt.</li><li>Het laatste dorp is Kessenich, in 2030.</li></ul>
      <h3>Meer over dit onderwerp</h3>
      <ul class="related"><li><a href="/a">Maas stijgt</a></li><li><a href="/b">Dijk zakt</a></li></ul>
      <div class="newsletter-signup"><p>Schrijf u in voor onze nieuwsbrief en ontvang elke ochtend het nieuws.</p></div>
    </article></main>
    <footer><p>De Maaskoerier is een uitgave van Maasmedia. Alle rechten voorbehouden, ook op deze lange regel tekst.</p></footer>
    <div id="cookie-consent"><p>${'Wij gebruiken cookies om uw bezoek te onthouden en advertenties te tonen. '.repeat(20)}</p></div>`)
    t.same(read(html), [
      BODY[0],
      'Sneller dan vroeger',
      BODY[1],
      BODY[2],
      'Het eerste dorp is Roosteren, waar de oudste dijk ligt.',
      'Het laatste dorp is Kessenich, in 2030.',
    ])
  },
)

const SAID = [1, 2, 3].map(
  n =>
    `In wijk ${n} van Roosteren gaat de nieuwe brug pas volgend jaar open, meldde de gemeente maandag.`,
)

/** What stands for these names in `page-text.json`. */
const TEXTS = {
  lead: LEAD,
  one: BODY[0]!,
  two: BODY[1]!,
  three: BODY[2]!,
  paragraphs,
  heading: `<h1>${TITLE}</h1>`,
  said1: SAID[0]!,
  said2: SAID[1]!,
  said3: SAID[2]!,
}

interface Row {
  body: string
  head?: string | undefined
  text: string[]
  why?: string | undefined
}

tryRows<Row>(t, TABLE, TEXTS, (t, { body, head, text }, about) =>
  t.same(read(page(body, head)), text, about),
)

t.test(
  'dates, names and reading times between headline and text are not the text’s beginning',
  async t => {
    const html = page(`<article><h1>${TITLE}</h1>
    <div>Gepubliceerd op 17 november 2026 om 9.30 uur, bijgewerkt om 11.45 uur</div><div>Leestijd: 3 minuten</div>
    <div>Door Piet Janssen</div>${paragraphs}</article>`)
    t.equal(read(html)[0], BODY[0])
  },
)

t.test('the title and the note of a video are no text', async t => {
  const note =
    'De dijkgraaf legt in deze video uit waarom de dijken langs de rivier hoger moeten worden.'
  const videos = [
    `<div class="x1"><video src="/a.mp4"></video><div class="x2">${note}</div></div>`,
    `<div class="x1"><div><iframe src="https://www.youtube.example/embed/1"></iframe></div><p>${note}</p></div>`,
    '<p>This video cannot be played on your device, or it has been taken down.</p>',
    '<p>Deze video kan niet worden afgespeeld in uw browser, probeer een andere.</p>',
  ]
  for (const video of videos) {
    t.same(
      read(page(`<article><h1>${TITLE}</h1><p>${LEAD}</p>${video}${paragraphs}</article>`)),
      [LEAD, ...BODY],
      video,
    )
  }
  const alone = read(
    page(
      `<article><h1>${TITLE}</h1><div><iframe src="/ad"></iframe><p>${BODY[0]}</p></div>${paragraphs}</article>`,
    ),
  )
  t.equal(alone[0], BODY[0], 'an advertisement beside a paragraph')
})

t.test(
  'a longer text about cookies is not the article, where the page calls itself a dated one',
  async t => {
    const cookies = `<div class="z"><p>${'Mir benotze Cookien, fir Iech Reklammen ze weisen. '.repeat(20)}</p></div>`
    const html = page(`${cookies}<div><h2>${TITLE}</h2><p>De eerste dijk is klaar.</p></div>`)
    t.same(readPageText(parsePage(html), true).paragraphs, ['De eerste dijk is klaar.'])
    const wall = page(`<div><h1>Uw cookies</h1><p>Kies wat u toestaat.</p></div>${cookies}`)
    t.notSame(readPageText(parsePage(wall), true).paragraphs, ['Kies wat u toestaat.'])
  },
)

const announced = (card: (text: string, n: number) => string) => SAID.map(card).join('')
const linked = announced(
  (text, n) =>
    `<div class="c"><h3><a href="/a/${n}">Brug van wijk ${n}</a></h3><p>${text}</p></div>`,
)

t.test(
  'an id that is made of the heading names a subject, beside sentences and no form',
  async t => {
    const around = (section: string) =>
      read(page(`<article><h1>${TITLE}</h1><p>${BODY[0]}</p>${section}<p>${BODY[2]}</p></article>`))
    const section = (id: string, heading: string, more = '') =>
      `<section id="${id}"><h2>${heading}</h2><p>${BODY[1]}</p>${more}</section>`
    for (const [id, heading] of [
      ['reacties', 'Reacties'],
      ['enquete', 'Enquête'],
      ['newsletter-van-de-dijk', 'Brief van de dijk'],
      ['share_the_road', 'Share the road'],
    ] as const)
      t.match(around(section(id, heading)).join(), BODY[1], id)
    for (const not of [
      section('reacties', 'Sneller dan vroeger'),
      section('newsletter', 'Newsletter', '<form><input type="email"></form>'),
      section('related', 'Related', '<p><a href="/b">Dijk zakt opnieuw</a></p>'),
    ])
      t.notMatch(around(not).join(), BODY[1], not)
    const comments = `<section id="reacties"><h2>Reacties</h2><p>${BODY[1]}</p></section>`
    t.same(
      read(
        page(`<article><h1>${TITLE}</h1><p>${BODY[0]}</p><p>${BODY[2]}</p>${comments}</article>`),
      ),
      [BODY[0], BODY[2]],
    )
  },
)

t.test(
  'a short box that begins with "Read also" or an offer goes whole, a section of the text stays',
  async t => {
    const within = (box: string) =>
      read(
        page(
          `<article><h1>${TITLE}</h1><p>${BODY[0]}</p>${box}<p>${BODY[1]}</p><p>${BODY[2]}</p></article>`,
        ),
      )
    for (const heading of [
      'Meest gelezen',
      'Les plus lus',
      'Meistgelesen',
      'Kommentar schreiben',
      'Weiterlesen mit Abo',
    ])
      t.same(
        within(`<div class="b"><div><h4>${heading}</h4></div><p>${SAID[0]}</p></div>`),
        BODY,
        heading,
      )
    t.same(
      within(`<div><h4>Gerelateerd</h4>${linked}</div>`),
      BODY,
      'a longer one of linked headings',
    )
    t.same(
      within(`<div><h4>Aanbevolen</h4>${SAID.map(text => `<p>${text} ${text}</p>`).join('')}</div>`)
        .length,
      6,
      'a long one',
    )
    t.match(
      within(`<div><h4>Meer over dijken langs de Maas</h4><p>${SAID[0]}</p></div>`).join(),
      SAID[0],
    )
  },
)

t.test(
  'a table of data is taken whole, a table of a layout is not; code is text in pre alone',
  t => {
    const cell = (text: string) => `<td>${text}</td>`
    const row = (dorp: string, cm: string) =>
      `<tr>${cell(`<a href="/dorp">${dorp}</a>`)}${cell(`De dijk wordt daar ${cm} centimeter hoger dan nu.`)}</tr>`
    const article = (inside: string) =>
      read(page(`<article><h1>${TITLE}</h1>${paragraphs}${inside}</article>`))
    const rows = [
      ['Kessenich', 'zestig'],
      ['Roosteren', 'tachtig'],
      ['Thorn', 'veertig'],
    ] as const
    const table = `<table>${rows.map(([dorp, cm]) => row(dorp, cm)).join('')}</table>`
    t.same(article(table).slice(BODY.length), [
      'Kessenich',
      'De dijk wordt daar zestig centimeter hoger dan nu.',
      'Roosteren',
      'De dijk wordt daar tachtig centimeter hoger dan nu.',
      'Thorn',
      'De dijk wordt daar veertig centimeter hoger dan nu.',
    ])
    const layout = table.replace('<tr>', '<tr><td><h2>Onze sponsors</h2></td></tr><tr>')
    t.notOk(article(layout).includes('Kessenich'))
    const code = 'function hoogte(dijk) { return dijk.meters + 0.6 }'
    t.same(article(`<pre>${code}</pre><p>${BODY[0]!.replace('vier', 'zes')}</p>`)[3], code)
    t.notOk(article(`<p>${code}</p><p>${BODY[0]!.replace('vier', 'zes')}</p>`).includes(code))
    t.end()
  },
)

t.test('a part that React streams stands once, also in another part, and never too deep', t => {
  const nested = (count: number) =>
    Array.from(
      { length: count },
      (_, at) =>
        `<div hidden id="S:${at.toString(16)}"><p>Deel ${at}.</p><template id="B:${(at + 1).toString(16)}"></template>`,
    ).join('')
  const chainOf = (count: number) => nested(count).replaceAll('</template>', '</template></div>')
  const blocks = (html: string) => readPageText(parsePage(page(html))).visible.slice(1)
  const lines = Array.from({ length: 10 }, (_, at) => `Deel ${at}.`)
  t.same(blocks(`<template id="B:0"></template>${nested(10)}`), lines)
  t.same(blocks(`<template id="B:0"></template>${chainOf(10)}`), lines)
  let deepest = 0
  walk(parsePage(`<template id="B:0"></template>${chainOf(300)}`).root, element => {
    deepest = Math.max(deepest, [...upwards(element)].length)
  })
  t.ok(deepest < 200, `${deepest}`)
  t.end()
})
