import t from 'tap'
import { examples, feedEntry, jsonLd, metaOf } from '../../../test/normaliser/pages.ts'
import { titleChoice } from './title.ts'

const outlet = { name: 'De Dagkoerier', domain: 'dagkoerier.example' }
const titled = (
  head: string,
  body = '',
  fed: string | null = null,
  of = outlet,
  url = 'https://dagkoerier.example/a',
) =>
  titleChoice(
    metaOf(`<html><head>${head}</head><body>${body}</body></html>`, url),
    fed === null ? null : feedEntry({ title: fed }),
    of,
  )?.value ?? null

const stating = (headline: string) => jsonLd({ '@type': 'NewsArticle', headline })
const social = (title: string) => `<meta property="og:title" content="${title}">`

t.test('the outlet’s name is no part of the headline', async t => {
  for (const [title, documents = ''] of examples('titles').get('templates')!)
    for (const document of documents.split(' ¦ '))
      t.equal(titled(`<title>${document}</title>`), title, document)
})

t.test('whitespace is collapsed and entities are decoded once', async t => {
  t.equal(titled('<title>\n  Brug   dicht\u00A0nu \t</title>'), 'Brug dicht nu')
  t.equal(titled('<title>Jan &amp; Piet</title>'), 'Jan & Piet')
  t.equal(titled('<title>Zo schrijf je &amp;amp;</title>'), 'Zo schrijf je &amp;')
  t.equal(titled(social('Zo schrijf je &amp;amp;')), 'Zo schrijf je &amp;')
  t.equal(titled(stating('Jan &amp; &#8216;Piet&#8217;')), 'Jan & ‘Piet’')
  t.equal(titled('', '', 'Jan &amp; <b>Piet</b>'), 'Jan & Piet')
})

t.test('the sources in their order', async t => {
  const data = stating('Brug dicht, zeggen de gegevens')
  const og = social('Brug dicht, zegt Open Graph')
  const document = '<title>Brug dicht, zegt het document</title>'
  const page = '<h1>Brug dicht, zegt de pagina</h1>'
  const feed = 'Brug dicht, zegt de feed'
  t.equal(titled(data + og + document, page, feed), 'Brug dicht, zeggen de gegevens')
  t.equal(titled(og + document, page, feed), 'Brug dicht, zegt de pagina')
  t.equal(titled(og + document, '', feed), 'Brug dicht, zegt Open Graph')
  t.equal(titled(document, '', feed), feed)
  t.equal(titled(document), 'Brug dicht, zegt het document')
  t.equal(titled('<title>De Dagkoerier</title>', '<h1>De Dagkoerier</h1>', feed), feed)
  t.equal(titled('<title>De Dagkoerier</title>'), null)
  t.equal(titled(''), null)
})

t.test('a heading that no title repeats is the page’s last word', async t => {
  const section = '<h1>Binnenland en politiek</h1>'
  t.equal(titled(social('Brug dicht'), section), 'Brug dicht')
  t.equal(titled('<title>De Dagkoerier</title>', section, 'Brug dicht'), 'Brug dicht')
  t.equal(
    titled('<title>De Dagkoerier</title>', '<h1>Brug over<br>de Maas dicht</h1>'),
    'Brug over de Maas dicht',
  )
})

t.test(
  'the name of a site with a separator in it, of a part of the outlet, and in its address',
  async t => {
    const site = '<meta property="og:site_name" content="Koers - Nieuws uit de regio">'
    t.equal(titled(`${site}<title>Brug dicht - Koers - Nieuws uit de regio</title>`), 'Brug dicht')
    const nos = { name: 'NOS', domain: 'nos.example' }
    const page = (document: string, of: typeof nos) =>
      titled(`<title>${document}</title>`, '', null, of)
    const named = { name: 'Dagblad', domain: 'dag-koerier.example' }
    for (const [kind, of] of [['of NOS', nos] as const, ['of the address', named] as const])
      for (const [title, document = ''] of examples('titles').get(kind)!)
        t.equal(page(document, of), title)
  },
)

t.test('a section of the address is no part of the headline', async t => {
  const url = 'https://dagkoerier.example/sport/voetbal/2026/a'
  const of = (document: string) => titled(`<title>${document}</title>`, '', null, outlet, url)
  t.equal(of('Oranje wint | Sport'), 'Oranje wint')
  t.equal(of('Oranje wint weer – Voetbal | De Dagkoerier'), 'Oranje wint weer')
  t.equal(of('Handbal – Voetbal'), 'Handbal – Voetbal')
  t.equal(of('Oranje wint | Politiek'), 'Oranje wint | Politiek')
  t.equal(of('Sport'), 'Sport')
})

t.test('a kicker that the headline of the page does not have is cut off', async t => {
  const page = '<h1>Brug over de Maas dicht</h1>'
  t.equal(titled(stating('SRF Zuid – Brug over de Maas dicht'), page), 'Brug over de Maas dicht')
  t.equal(titled(stating('Brug over de Maas dicht | Verkeer'), page), 'Brug over de Maas dicht')
  t.equal(
    titled(`${social('Brug – dicht')}<title>Dicht</title>`),
    'Brug – dicht',
    'one word is not a title',
  )
})

t.test('the headline that readers see comes before a title for search engines', async t => {
  const data = stating('Brug Maas: alles over de sluiting')
  const document = '<title>Brug Maas: alles over de sluiting | De Dagkoerier</title>'
  const og = social('Een week omrijden voor de bakker')
  const page = '<h1>Een week omrijden voor de bakker</h1>'
  t.equal(titled(data + document + og, page), 'Een week omrijden voor de bakker')
  t.equal(
    titled(data + document, page),
    'Brug Maas: alles over de sluiting',
    'Open Graph does not agree',
  )
  t.equal(
    titled(data + og, page),
    'Brug Maas: alles over de sluiting',
    'the document does not agree',
  )
})

t.test('a kicker without a separator is cut off where another source does without it', async t => {
  const page = '<h1>Brug over de Maas dicht</h1>'
  t.equal(titled(stating('Verkeer Brug over de Maas dicht'), page), 'Brug over de Maas dicht')
  const both =
    stating('Verkeer Brug over de Maas dicht') + social('Verkeer: Brug over de Maas dicht')
  t.equal(titled(both, page), 'Verkeer Brug over de Maas dicht', 'two sources have it')
  const short = '<h1>Maas dicht</h1>'
  t.equal(
    titled(stating('Brug over de Maas dicht'), short),
    'Brug over de Maas dicht',
    'two words may be a part',
  )
  const long = 'Na een week van omrijden en wachten weten de bakkers het: de brug is open'
  t.equal(
    titled(stating(long), '<h1>De brug is open</h1>'),
    long,
    'a kicker is not longer than its headline',
  )
})

t.test('of titles with the same words, the separators that most sources have', async t => {
  const colon = `${social('Verkeer: Brug dicht')}<title>Verkeer: Brug dicht | De Dagkoerier</title>`
  t.equal(titled(colon, '<h1>Verkeer Brug dicht</h1>'), 'Verkeer: Brug dicht')
  t.equal(
    titled(stating('Verkeer - Brug dicht') + colon, '<h1>Verkeer Brug dicht</h1>'),
    'Verkeer: Brug dicht',
  )
  t.equal(
    titled(stating('Verkeer - Brug dicht') + social('Verkeer: Brug dicht')),
    'Verkeer - Brug dicht',
    'one of each',
  )
  t.equal(
    titled(`${stating('Brug dicht')}${social('Brug DICHT')}<title>Brug DICHT</title>`),
    'Brug dicht',
  )
})

t.test('a dash is taken where other sources have a hyphen in its place', async t => {
  const hyphens = `${stating('Brug dicht - wat nu')}<title>Brug dicht - wat nu</title>`
  t.equal(titled(hyphens, '<h1>Brug dicht – wat nu</h1>'), 'Brug dicht – wat nu')
  t.equal(
    titled(stating('Brug dicht – wat nu') + social('Brug dicht - wat nu')),
    'Brug dicht – wat nu',
  )
})

t.test('a headline that a system cut is whole where another source has the whole', async t => {
  const whole =
    'Burgemeester van Temse wil dat de brug over de Schelde nog minstens drie weken dicht blijft voor alle vrachtwagens'
  const beginning = whole.slice(0, whole.lastIndexOf(' '))
  const headline = (text: string) => `${stating(text)}<title>${whole}</title>`
  for (const cut of ['…', ' (…)', ' [...]', '..', '… lees meer', ''])
    t.equal(titled(headline(beginning + cut), `<h1>${whole}</h1>`), whole, `"${cut}"`)
  const short =
    'Burgemeester van Temse wil dat de brug over de Schelde dicht blijft voor vrachtwagens'
  t.equal(
    titled(headline(short), `<h1>${short} en bussen</h1>`),
    short,
    'no cut that a limit explains',
  )
})
