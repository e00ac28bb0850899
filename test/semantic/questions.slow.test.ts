import { once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import { startTestServers } from '../servers.ts'
import { createWorld, query } from './world.ts'

t.setTimeout(300_000)

/** Hands requests on to a model server, and keeps the bodies of those for search terms. */
async function startCounter(target: string) {
  const queries: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    if (body.includes('"input_type":"query"')) queries.push(body)
    const { authorization = '' } = request.headers
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body,
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/v1/embeddings`,
    asked: (text: string) => queries.filter(body => body.includes(text)).length,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

t.test('the embedded model gets an equal question once, and is not missed for it', async t => {
  const servers = process.env.EMBEDDINGS_URL ? null : await startTestServers({ servers: ['model'] })
  const url = servers?.addresses.EMBEDDINGS_URL ?? process.env.EMBEDDINGS_URL ?? ''
  if (servers) t.teardown(() => servers.stop())
  if (url === '') return t.comment('this machine cannot run the model')
  const counter = await startCounter(url)
  t.teardown(() => counter.stop())
  const world = await createWorld({
    EMBEDDINGS_URL: counter.url,
    EMBEDDINGS_API_KEY: servers?.settings.EMBEDDINGS_API_KEY ?? process.env.EMBEDDINGS_API_KEY ?? '',
    EMBEDDINGS_MODEL: 'intfloat/multilingual-e5-small',
  })
  t.teardown(() => world.close())
  await world.index([{ title: 'De bakker verkoopt brood' }, { title: 'Le train part en retard' }])
  await world.fleet.start('embedder')
  await world.embedded(2)

  const search = await world.openSearch()
  // The first request of a process finds out that the server adds the prefixes itself.
  await search.search(query('weer'), null)
  const pages = await Promise.all(
    (['NL', 'BE'] as const).map(own => search.search(query('vertraging', { planCountries: [own] }), null)),
  )
  t.same(
    pages.map(({ total }) => total),
    [2, 0],
  )
  const first = await search.search(query('vertraging'), null)
  t.match(first.rows[0], { title: 'Le train part en retard' })
  t.equal(counter.asked('vertraging'), 1)

  counter.stop()
  await world.pool.query('delete from semantic_sets')
  t.same(await search.search(query('vertraging'), null), first, 'the same answer while the model is away')
})
