import t from 'tap'
import { startTestApi } from './api.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()

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
