import fc from 'fast-check'
import t from 'tap'
import { addressKey } from '#shared/articles/address'
import { WEB_ADDRESS } from '#test/characters'
import { identify, type Languages } from './identity.ts'
import LINKS from './links.json' with { type: 'json' }

const outlet = { domain: 'dagkoerier.example' }
const article = 'https://www.dagkoerier.example/nieuws/2026/11/brug-over-de-maas-dicht~a123456'
const key = 'dagkoerier.example/nieuws/2026/11/brug-over-de-maas-dicht~a123456'

/** A page at its own address, without a redirect unless one is given. */
function sight(parts: {
  url?: string
  finalUrl?: string
  canonical?: string
  amp?: string
  languages?: Languages
}) {
  const url = parts.url ?? article
  return identify({ url, finalUrl: url, outlet, ...parts })
}

/** Whether two pages are one article, as the index decides it. */
function one(a: Parameters<typeof sight>[0], b: Parameters<typeof sight>[0]): boolean {
  const known = new Set(sight(a).addresses)
  return sight(b).addresses.some(address => known.has(address))
}

t.test('decision 37: the same article by several ways is one', async t => {
  const canonical = article
  const ways: [string, Parameters<typeof sight>[0]][] = [
    ['tracking parameters', { url: `${article}?utm_source=rss&fbclid=x` }],
    [
      'AMP page with a canonical link',
      { url: 'https://amp.dagkoerier.example/x/123456', canonical },
    ],
    [
      'short address with a redirect',
      { url: 'https://dgk.example/Xy12', finalUrl: `${article}?utm_medium=share` },
    ],
    ['feed proxy', { url: 'https://feeds.proxy.example/~r/dk/~3/abc', finalUrl: article }],
    [
      'canonical link, relative',
      { url: 'https://www.dagkoerier.example/-/123456', canonical: article.slice(30) },
    ],
    [
      'canonical link on a sister host',
      { url: 'https://regio.dagkoerier.example/artikel/123456', canonical },
    ],
  ]
  for (const [name, way] of ways) t.ok(one({}, way), name)
  const amp = 'https://www.dagkoerier.example/mobiel/123456'
  t.ok(one({ amp }, { url: amp }), 'amphtml')
})

t.test('decision 37: the canonical address is the public one, its key the first', async t => {
  const mobile = 'http://m.dagkoerier.example/-/123456?utm_source=x'
  t.same(sight({ url: mobile, canonical: `${article}?utm_source=y#z` }), {
    url: article,
    addresses: [key, 'dagkoerier.example/-/123456'],
  })
  t.equal(sight({ url: `${article}/?page=2&utm_source=x` }).url, `${article}/?page=2`)
})

t.test('decision 37: a canonical link that cannot be this article’s is not believed', async t => {
  const long = `https://www.dagkoerier.example/${'a'.repeat(2100)}`
  for (const { name, canonical } of [...LINKS.unbelieved, { name: 'too long', canonical: long }])
    t.same(sight({ canonical }), { url: article, addresses: [key] }, name)
})

t.test('decision 37: a shorter canonical link that names an article is believed', async t => {
  for (const [path, canonical] of [
    ['/artikel/2349826/brug-dicht', '/artikel/2349826'],
    ['/2026/11/a-b-c', '/a-b-c-d'],
    ['/x/y', '/?p=959'],
  ] as const) {
    const site = 'https://dagkoerier.example'
    t.equal(sight({ url: site + path, canonical }).url, site + canonical)
  }
})

/** The alternates of a page in two languages, and its address for readers of other languages. */
const twins = [
  { language: 'fr-BE', href: 'https://www.dagkoerier.example/actu/pont-ferme-sur-la-meuse' },
  { language: 'nl-BE', href: article },
  { language: 'x-default', href: article },
]

t.test(
  'hreflang twins are two articles, also where one names the other as its canonical form',
  async t => {
    const french = twins[0]?.href ?? ''
    const languages = { own: 'fr', twins }
    const own = sight({ url: french, canonical: article, languages })
    t.same(own, { url: french, addresses: ['dagkoerier.example/actu/pont-ferme-sur-la-meuse'] })
    // When the page's own list lacks the page, the language of its text counts.
    const amp = 'https://www.dagkoerier.example/lecture/pont-ferme-sur-la-meuse'
    const unlisted = sight({ url: amp, canonical: article, amp: article, languages })
    t.same(unlisted.addresses, ['dagkoerier.example/lecture/pont-ferme-sur-la-meuse'])
    t.equal(sight({ url: amp, canonical: french, languages }).url, french)
    t.equal(sight({ url: french, canonical: french, languages: { own: 'nl', twins } }).url, french)
  },
)

t.test('forms of one language for two countries are one article', async t => {
  const flemish = article.replace('/nieuws/', '/vlaanderen/')
  const both = [
    { language: 'nl-BE', href: flemish },
    { language: 'nl-NL', href: article },
  ]
  t.equal(
    sight({ url: flemish, canonical: article, languages: { own: 'nl', twins: both } }).url,
    article,
  )
})

t.test('a canonical link whose address names another language is not believed', async t => {
  for (const { url, canonical } of LINKS.otherLanguage)
    t.equal(sight({ url, canonical }).addresses.length, 1, url)
  const french = 'https://www.dagkoerier.example/fr/2026/pont-ferme-123'
  t.equal(
    sight({ url: `${french}/print`, canonical: french }).url,
    french,
    'one of the same language is',
  )
  t.equal(
    sight({ url: article, canonical: french }).url,
    french,
    'and one that says nothing of its own',
  )
})

t.test('decision 37: redirects that end where many articles end do not make them one', async t => {
  const other = 'https://www.dagkoerier.example/nieuws/2026/11/een-heel-ander-stuk~a99'
  for (const finalUrl of [
    'https://www.dagkoerier.example/',
    'https://www.dagkoerier.example/nieuws',
    'https://myprivacy.dpgmedia.example/consent?siteKey=1',
    'https://login.dagkoerier.example/start',
    'https://www.dagkoerier.example/cookiewall?to=x',
    'https://cmp.toestemming.example/gate',
    'https://parkeren.example/home/',
  ]) {
    t.notOk(one({ finalUrl }, { url: other, finalUrl }), finalUrl)
    t.equal(sight({ finalUrl }).url, article)
  }
})

t.test(
  'decision 37: two blogs of one provider, two ports of one machine are different sites',
  async t => {
    const keys = (url: string, canonical: string) => sight({ url, canonical }).addresses
    t.same(keys('https://a.blogspot.com/x-y-z', 'https://b.blogspot.com/x-y-z'), [
      'a.blogspot.com/x-y-z',
    ])
    const local = 'http://127.0.0.1:8001/nieuws/artikel-1'
    t.same(keys(local, 'http://127.0.0.1:8002/nieuws/artikel-2'), [
      '127.0.0.1:8001/nieuws/artikel-1',
    ])
    t.equal(keys(local, '/nieuws/artikel-3')[0], '127.0.0.1:8001/nieuws/artikel-3')
    t.same(keys('http://krant:9000/a/artikel-1', 'http://ander/a/artikel-1'), [
      'krant:9000/a/artikel-1',
    ])
  },
)

t.test(
  'with any claims of a page, its own address is among the keys and nothing throws',
  async () => {
    fc.assert(
      fc.property(
        WEB_ADDRESS,
        fc.oneof(fc.string(), WEB_ADDRESS),
        fc.oneof(fc.string(), WEB_ADDRESS),
        (url, finalUrl, canonical) =>
          identify({ url, finalUrl, canonical, outlet }).addresses.includes(addressKey(url)),
      ),
      { numRuns: 1000 },
    )
  },
)
