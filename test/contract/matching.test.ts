import t from 'tap'
import { startTestApi } from './api.ts'

// Words, phrases and the grammar: the oracles (`random.test.ts`), tokens, stems, parser.

const api = await startTestApi(t)
const { secret } = await api.issue()

/** Titles found, in order. */
async function titles(query: Record<string, string>): Promise<string[]> {
  const { status, json } = await api.ask(
    secret,
    `/v1/articles?per_page=100&${new URLSearchParams({ order: 'asc', ...query })}`,
  )
  if (status !== 200) throw new Error(JSON.stringify(json))
  return json.articles.map((article: { title: string }) => article.title)
}
const keyword = (q: string, more = {}) => titles({ q, ...more })
const boolean = (q: string, more = {}) => titles({ q, search: 'boolean', ...more })

const outlet = (name: string | null, domain: string | null) => ({ name, domain })
await api.index([
  { title: "L'économie belge", country: 'BE', outlet: outlet('Le Courrier Éclair', 'courrier.example') },
  { title: 'Anti-corruptie wet aangenomen', authors: ['José Peeters'] },
  { title: 'Corruptie anti alles', authors: ['Jos Claes', 'Anna_B'] },
  { title: 'Honderd 100% zeker', outlet: outlet('100%_Nieuws', 'honderd.example') },
  { title: 'Zonder domein', outlet: outlet('Archief', null) },
  { title: 'over de grens', body: 'heen en weer' },
  {
    title: 'Op d’Eifel, opʼs Land',
    language: 'lb',
    authors: ['Ria D’Hoest', 'Gus D´Hoest'],
    outlet: outlet('LʼAube', 'aube.example'),
  },
])

t.test('decision 15: outlet is a part of the name or of the domain, without case and accents', async t => {
  for (const part of ['courrier', 'ECLAIR', 'éclair', 'urrier.exa', 'Courrier Éclair']) {
    t.strictSame(await titles({ outlet: part }), ["L'économie belge"], part)
  }
  t.strictSame(await titles({ outlet: 'archief' }), ['Zonder domein'])
  t.strictSame(await titles({ outlet: 'courrierx' }), [])
})

t.test('decision 15: author is a part of a name', async t => {
  t.strictSame(await titles({ author: 'jose' }), ['Anti-corruptie wet aangenomen'])
  t.strictSame(await titles({ author: 'JOS' }), ['Anti-corruptie wet aangenomen', 'Corruptie anti alles'])
})

t.test('decision 15: %, _ and \\ are ordinary characters', async t => {
  t.strictSame(await titles({ outlet: '100%' }), ['Honderd 100% zeker'])
  t.strictSame(await titles({ outlet: '%_n' }), ['Honderd 100% zeker'])
  t.strictSame(await titles({ outlet: 'c_urrier' }), [])
  t.strictSame(await titles({ author: 'a_b' }), ['Corruptie anti alles'])
  t.strictSame(await titles({ outlet: '\\' }), [])
})

t.test('decision 44: apostrophes are one sign, in names and words', async t => {
  const one = ['Op d’Eifel, opʼs Land']
  for (const sign of "'‘’ʼ`´") {
    t.strictSame(await titles({ author: `ria d${sign}hoest` }), one, sign)
    t.strictSame(await titles({ author: `Gus D${sign}H` }), one, sign)
    t.strictSame(await titles({ outlet: `l${sign}aube` }), one, sign)
    t.strictSame(await boolean(`"d${sign}eifel" op${sign}s`), one, sign)
    t.equal((await api.ask(secret, `/v1/articles?q=${encodeURIComponent(sign)}`)).status, 422, sign)
  }
})

t.test('decision 40: a frequent word on which other lists agree does not count either', async t => {
  await api.index([
    { title: 'Les bourgmestres de Plonsville se réunissent', language: 'fr', country: 'BE' },
    { title: 'Les prix augmentent dans les magasins', language: 'fr', country: 'BE' },
    { title: 'Tous les trains sont en retard', language: 'fr', country: 'LU' },
    { title: 'Plonsville vote', language: 'fr', country: 'BE' },
  ])
  const plonsville = ['Les bourgmestres de Plonsville se réunissent', 'Plonsville vote']
  t.same((await keyword('le la les et Plonsville', { language: 'fr' })).sort(), plonsville)
  t.equal((await keyword('les', { language: 'fr' })).length, 3, 'alone it matches as written')
})

t.test('decision 17: of articles published at the same moment, the closer match comes first', async t => {
  const publishedAt = new Date('2026-05-05T12:00:00Z')
  await api.index([
    { title: 'Haven en iets anders', publishedAt },
    { title: 'Haven haven schip schip', publishedAt },
    { title: 'Haven schip', publishedAt },
  ])
  for (const order of ['asc', 'desc']) {
    const found = await titles({ q: 'haven schip', order })
    t.equal(found.at(-1), 'Haven en iets anders', order)
  }
})

t.test('decision 19: without q, both list everything', async t => {
  const all = await titles({})
  t.ok(all.length >= 12)
  t.strictSame(await titles({ search: 'boolean' }), all)
  t.strictSame(await titles({ search: 'boolean', q: ' ' }), all)
})

t.test('decision 20: a phrase stands in the title or in the text, never across', async t => {
  t.strictSame(await boolean('"de grens"', { search_in: 'title_body' }), ['over de grens'])
  t.strictSame(await boolean('"en weer"', { search_in: 'title_body' }), ['over de grens'])
  t.strictSame(await boolean('"grens heen"', { search_in: 'title_body' }), [])
  t.strictSame(await boolean('grens heen', { search_in: 'title_body' }), ['over de grens'])
  t.strictSame(await boolean('heen'), [], 'headlines only, by default')
})

interface Shown {
  id: string
  title: string
  snippet: string | null
  published_at: string | null
  ingested_at: string | null
  authors: { id: string; name: string }[]
}
const all = async (): Promise<Shown[]> =>
  (await api.ask(secret, '/v1/articles?per_page=100&sort=ingested_at&order=asc')).json.articles

t.test('decision 24: what is indexed again stays as it was, to the byte', async t => {
  const url = 'https://dagkoerier.example/vast'
  await api.index([{ title: 'Vast', body: 'Zoals het was.', url, authors: ['Anna'], publishedAt: null }])
  const before = (await all()).find(article => article.title === 'Vast')
  t.ok(before)
  await api.index([
    {
      title: 'Anders',
      body: 'Zoals het werd.',
      url,
      authors: ['Bert'],
      publishedAt: new Date('2026-02-02'),
      language: 'fr',
    },
  ])
  const after = (await all()).find(article => article.id === before?.id)
  t.strictSame(after, before)
  t.equal((await all()).filter(article => article.title === 'Anders').length, 0)
})

t.test("decision 35: an author's id is the same for the same name at the same outlet, and no other", async t => {
  const elsewhere = { name: 'Le Courrier', domain: 'courrier.example' }
  await api.index([
    { title: 'Auteur 1', authors: ['Anna de Wit', 'Bert'] },
    { title: 'Auteur 2', authors: ['Anna de Wit'] },
    { title: 'Auteur 3', authors: ['Anna de Wit'], outlet: elsewhere, url: 'https://courrier.example/x' },
  ])
  const [one, two, three] = (await all())
    .filter(({ title }) => title.startsWith('Auteur'))
    .sort((a, b) => (a.title < b.title ? -1 : 1))
  const names = one?.authors.map(({ name }) => name)
  t.strictSame(names, ['Anna de Wit', 'Bert'], 'in the order of the outlet')
  t.equal(one?.authors[0]?.id, two?.authors[0]?.id)
  t.not(one?.authors[0]?.id, three?.authors[0]?.id)
  t.not(one?.authors[0]?.id, one?.authors[1]?.id)
})
