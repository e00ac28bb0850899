import t from 'tap'
import { parsePage, upwards, walk } from '../markup/tree.ts'
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

t.test('the standfirst above the picture is the first paragraph', async t => {
  for (const lead of [
    `<header><h1>${TITLE}</h1><p class="intro">${LEAD}</p></header>`,
    `<h1>${TITLE}</h1><div class="chapo">${LEAD}</div>`,
    `<hgroup><h1>${TITLE}</h1><h2>${LEAD}</h2></hgroup>`,
  ]) {
    const html = page(
      `<main>${lead}<figure><img><figcaption>De dijk. Foto: An Claes</figcaption></figure><div class="text">${paragraphs}</div></main>`,
    )
    t.same(read(html), [LEAD, ...BODY], lead)
  }
})

t.test(
  'a standfirst without a telling name or place is known by the page’s description',
  async t => {
    const lead = 'Twaalf dorpen krijgen hogere dijken'
    const long = `${lead}, en dat is volgens de bewoners hoog tijd`
    const html = page(
      `<div class="x1"><h1>${TITLE}</h1><div class="x2">${long}</div></div><div class="x3">${paragraphs}</div>`,
      `<meta name="description" content="${long}">`,
    )
    t.same(read(html), [long, ...BODY])
  },
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

t.test('names say less than the text: an article inside a `sidebar-grid` is found', async t => {
  const parts = BODY.map(
    text => `<div class="sidebar-grid"><div class="sidebar"><p>${text}</p></div></div>`,
  ).join('')
  t.same(read(page(`<h1>${TITLE}</h1>${parts}`)), BODY)
})

t.test('paragraphs made of line breaks, and text without paragraphs', async t => {
  t.same(read(page(`<div id="story">${BODY.join('<br><br>')}</div>`)), BODY)
  t.same(
    read(page(`<td><center>${BODY.map(text => `<div>${text}</div>`).join('')}</center></td>`)),
    BODY,
  )
})

t.test('text behind "read more" is read, text hidden for other reasons is not', async t => {
  const html =
    page(`<article><h1>${TITLE}</h1><p class="par">${BODY[0]}</p><p class="par">${BODY[1]}</p>
    <div style="display:none"><p class="par">${BODY[2]}</p></div>
    <div hidden><p class="tip">Deze tekst hoort bij een knop en is nooit te zien geweest.</p></div></article>`)
  t.same(read(html), BODY)
  const bait =
    '<p style="display:none">Deze tekst staat er voor machines, en mensen zien haar niet op de pagina.</p>'
  t.same(read(page(`<article><h1>${TITLE}</h1>${paragraphs}${bait}</article>`)), BODY)
})

t.test('a repeated text is kept once', async t => {
  t.same(
    read(page(`<h1>${TITLE}</h1><p class="intro">${BODY[0]}</p><div>${paragraphs}</div>`)),
    BODY,
  )
})

t.test('a short report of two sentences is a text', async t => {
  const linked = `<p>${BODY[0]} <a href="/8">Lees meer</a></p><p>${BODY[1]}</p>`
  t.same(read(page(`<article><h1>${TITLE}</h1>${linked}</article>`)), [
    `${BODY[0]} Lees meer`,
    BODY[1],
  ])
  const short =
    'In Kessenich is maandag een dijkpaal omgevallen. Niemand raakte gewond, meldt de brandweer.'
  t.same(
    read(
      page(
        `<nav><a href="/">Voorpagina</a></nav><article><h1>Dijkpaal omgevallen</h1><p>${short}</p></article>`,
      ),
    ),
    [short],
  )
})

t.test(
  'boxes that announce another article, a video or a sound are no text; a list of such boxes is',
  async t => {
    const teaser = (title: string, text: string) =>
      `<div class="c1"><h2><a href="/media/${title.length}">${title}</a></h2><div><p>${text}</p></div></div>`
    const announced =
      'In het fragment vertelt een bewoner hoe hoog het water vorige week stond in zijn straat.'
    const html = (between: string) =>
      page(`<article><h1>${TITLE}</h1><p>${LEAD}</p>${between}${paragraphs}</article>`)
    t.same(read(html(teaser('Fragment: zo hoog stond het water', announced))), [LEAD, ...BODY])
    const tips = ['Zandzakken', 'Pompen', 'Plankjes'].map((title, at) =>
      teaser(`${title} bij hoog water`, BODY[at]!),
    )
    t.same(
      read(page(`<article><h1>${TITLE}</h1><p>${LEAD}</p>${tips.join('')}</article>`)),
      [
        LEAD,
        ...['Zandzakken', 'Pompen', 'Plankjes'].flatMap((title, at) => [
          `${title} bij hoog water`,
          BODY[at]!,
        ]),
      ],
      'with its headings',
    )
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

const SAID = [1, 2, 3].map(
  n =>
    `In wijk ${n} van Roosteren gaat de nieuwe brug pas volgend jaar open, meldde de gemeente maandag.`,
)
const announced = (card: (text: string, n: number) => string) => SAID.map(card).join('')
const linked = announced(
  (text, n) =>
    `<div class="c"><h3><a href="/a/${n}">Brug van wijk ${n}</a></h3><p>${text}</p></div>`,
)

t.test(
  'a page without a text of its own has none: teasers outside the headline’s element are others’',
  async t => {
    const cards = {
      'linked headings': linked,
      'linked items': announced(
        (text, n) =>
          `<li><a href="/a/${n}">De brug van wijk ${n} gaat later open</a><p>${text}</p></li>`,
      ),
      'linked pictures': announced(
        (text, n) =>
          `<div><a href="/a/${n}"><img src="b.jpg"></a><h3>De brug van wijk ${n}</h3><p>${text}</p></div>`,
      ),
      articles: announced(
        (text, n) =>
          `<article><h3><a href="/a/${n}">Brug van wijk ${n}</a></h3><p>${text}</p></article>`,
      ),
    }
    const own = (inside: string) => `<article><h1>${TITLE}</h1>${inside}</article>`
    for (const [name, strip] of Object.entries(cards)) {
      t.same(
        read(page(`<main>${own('<div id="root"></div>')}<section>${strip}</section></main>`)),
        [],
        name,
      )
      t.same(
        read(page(`<main>${own(`<p>${BODY[0]}</p>`)}</main><section>${strip}</section>`)),
        [BODY[0]],
        `${name}, one sentence`,
      )
    }
    t.same(
      read(
        page(
          `<main><article><h1>${TITLE}</h1><video src="a.mp4"></video></article><div>${linked}</div></main>`,
        ),
      ),
      [],
    )
    t.same(
      read(
        page(
          `<div id="page"><div><h1>${TITLE}</h1></div><div><h2>Meer nieuws</h2>${linked}</div></div>`,
        ),
      ),
      [],
    )
    t.same(read(page(`<main>${own(linked)}</main>`)), SAID, 'a list in the article’s own element')
    t.same(
      read(page(`<header><h1>${TITLE}</h1></header><div>${paragraphs}</div><div>${linked}</div>`)),
      BODY,
    )
  },
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

t.test('answers that readers unfold are the text; other hidden parts are not', t => {
  const answer =
    'De dijken worden zestig centimeter hoger, en de weg erlangs wordt een fietspad, omdat de brug over de beek te smal is voor vrachtwagens en voor bussen.'
  const article = (attributes: string, text = answer) =>
    read(
      page(
        `<article><h1>${TITLE}</h1>${paragraphs}<h2>Hoe hoog?</h2><div ${attributes}><p>${text}</p></div></article>`,
      ),
    )
  const withAnswer = [...BODY, 'Hoe hoog?', answer]
  t.same(article('hidden role="region" id="x_content"'), withAnswer)
  t.same(article('style="display:none" class="faq-content-1"'), withAnswer)
  t.same(article('hidden class="box"'), BODY)
  t.same(article('hidden role="region"', 'Kies een gemeente.'), BODY)
  const within = `<p><b>Hoe hoog?</b> <span hidden class="faq-answer">${answer}</span></p>`
  t.same(read(page(`<article><h1>${TITLE}</h1>${paragraphs}${within}</article>`)), [
    ...BODY,
    `Hoe hoog? ${answer}`,
  ])
  t.end()
})

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

t.test('what stands between the sentences of the text belongs to it', t => {
  const list =
    '<ul><li><a href="/a">De weg langs de kerk</a></li><li><a href="/b">Brug bij Thorn</a></li></ul>'
  const step = 'Eerst pompt de aannemer het water weg, wat volgens hem twee dagen en nachten duurt.'
  const cells = ['Dorp', 'Hoogte', 'Thorn', '40 cm', 'Kessenich', '60 cm']
  const row = (from: number) => `<tr><td>${cells.slice(from, from + 2).join('</td><td>')}</td></tr>`
  const dorpen = ['Thorn', 'Kessenich', 'Roosteren']
  const said = (dorp: string) => `In ${dorp} begint de aannemer nog dit jaar aan een hogere dijk.`
  const cards = (count: number) =>
    dorpen
      .slice(0, count)
      .map(
        (dorp, at) =>
          `<div><div class="naam">${dorp}</div><div class="naam">${at} km</div><p>${said(dorp)}</p></div>`,
      )
      .join('')
  const photos = dorpen.map(dorp => `<div class="f">${dorp}</div><p>${said(dorp)}</p>`).join('')
  const cases: [string, string[]][] = [
    [cards(3), dorpen.flatMap((dorp, at) => [dorp, `${at} km`, said(dorp)])],
    [cards(1), dorpen.slice(0, 1).map(said)],
    [photos, dorpen.map(said)],
    [
      `<details><summary>Wanneer precies?</summary><p>${step}</p></details>`,
      ['Wanneer precies?', step],
    ],
    ['<h2><div>Sneller dan vroeger</div></h2>', ['Sneller dan vroeger']],
    [
      `<p>Twee wegen blijven open:</p>${list}`,
      ['Twee wegen blijven open:', 'De weg langs de kerk', 'Brug bij Thorn'],
    ],
    [`<p>Lees ook nog deze week:</p>${list}`, []],
    [`<p>Dossier sluizen:</p>${list}`, ['Dossier sluizen:']],
    [list, []],
    [`<div class="media-blok"><div>1</div><div class="uitleg">${step}</div></div>`, [step]],
    [`<div class="scroll"><table>${row(0)}${row(2)}${row(4)}</table></div>`, cells],
    ['<h2 id="x"><a href="#x">Sneller dan vroeger</a></h2>', ['Sneller dan vroeger']],
    ['<h2><a href="/x">Sneller dan vroeger</a></h2>', []],
    ['<h2 class="media-kop">Sneller dan vroeger</h2>', ['Sneller dan vroeger']],
    [
      '<pre><span class="token comment"># open de sluis</span>\ngate open --all</pre>',
      ['# open de sluis gate open --all'],
    ],
  ]
  for (const [between, expected] of cases) {
    const html = page(
      `<article><h1>${TITLE}</h1><p>${BODY[0]}</p>${between}<p>${BODY[1]}</p><p>${BODY[2]}</p></article>`,
    )
    t.same(read(html), [BODY[0], ...expected, BODY[1], BODY[2]], between)
  }
  t.end()
})

t.test('a line of an offer above the headline takes nothing else with it', async t => {
  const menu =
    '<div><a href="/abo">Abonneer je</a></div><h3><a href="/x">Nieuws</a></h3><h3><a href="/y">Sport</a></h3>'
  t.same(read(page(`${menu}<article><h1>${TITLE}</h1>${paragraphs}</article>`)), BODY)
})

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
