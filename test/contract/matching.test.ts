import t from 'tap'
import { startTestApi } from './api.ts'

// Words, phrases, names and their order: the oracles (`random.test.ts`), tokens, stems, parser.

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
const boolean = (q: string) => titles({ q, search: 'boolean' })

const TITLE = 'Op d’Eifel, opʼs Land'
await api.index([
  {
    title: TITLE,
    language: 'lb',
    authors: ['Ria D’Hoest', 'Gus D´Hoest'],
    outlet: { name: 'LʼAube', domain: 'aube.example' },
  },
])

t.test(
  'decision 15: a part of a name, without case and accents; %, _ and \\ are ordinary characters',
  async t => {
    for (const outlet of ['AUBE', 'äub', 'e.exa']) t.same(await titles({ outlet }), [TITLE], outlet)
    for (const outlet of ['%', 'a_b', '\\', 'aubex']) t.same(await titles({ outlet }), [], outlet)
    t.same([await titles({ author: 'RÏA' }), await titles({ author: 'ri_' })], [[TITLE], []])
  },
)

t.test('decision 44: apostrophes are one sign, in names and words', async t => {
  const one = [TITLE]
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

const all = async (): Promise<
  { id: string; title: string; authors: { id: string; name: string }[] }[]
> => (await api.ask(secret, '/v1/articles?per_page=100&sort=ingested_at&order=asc')).json.articles

t.test('decision 24: what is indexed again stays as it was, to the byte', async t => {
  const url = 'https://dagkoerier.example/vast'
  await api.index([
    { title: 'Vast', body: 'Zoals het was.', url, authors: ['Anna'], publishedAt: null },
  ])
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

t.test(
  "decision 35: an author's id is the same for the same name at the same outlet, and no other",
  async t => {
    const elsewhere = { name: 'Le Courrier', domain: 'courrier.example' }
    await api.index([
      { title: 'Auteur 1', authors: ['Anna de Wit', 'Bert'] },
      { title: 'Auteur 2', authors: ['Anna de Wit'] },
      {
        title: 'Auteur 3',
        authors: ['Anna de Wit'],
        outlet: elsewhere,
        url: 'https://courrier.example/x',
      },
    ])
    const [one, two, three] = (await all())
      .filter(({ title }) => title.startsWith('Auteur'))
      .sort((a, b) => (a.title < b.title ? -1 : 1))
    const names = one?.authors.map(({ name }) => name)
    t.strictSame(names, ['Anna de Wit', 'Bert'], 'in the order of the outlet')
    t.equal(one?.authors[0]?.id, two?.authors[0]?.id)
    t.not(one?.authors[0]?.id, three?.authors[0]?.id)
    t.not(one?.authors[0]?.id, one?.authors[1]?.id)
  },
)
