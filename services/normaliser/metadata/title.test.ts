import t from 'tap'
import { examples, tryRows } from '#test/examples'
import { feedEntry, metaOf } from '#test/normaliser/pages'
import TABLE from './title.json' with { type: 'json' }
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

interface Row {
  head?: string | undefined
  body?: string | undefined
  feed?: string | undefined
  title: string | null
  why?: string | undefined
}

tryRows<Row>(t, TABLE, {}, (t, { head = '', body, feed, title }, about) =>
  t.equal(titled(head, body, feed), title, about),
)

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
      for (const [title, document = ''] of examples('normaliser/titles').get(kind)!)
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
