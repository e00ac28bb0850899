import { once } from 'node:events'
import { createServer, get } from 'node:http'
import express from 'express'
import t from 'tap'
import { listen } from '#test/fleet'
import { leavesOf } from './access.ts'
import { NoPermit } from './permits.ts'

t.test('a client leaves when it hangs up, and not when it has its answer', async t => {
  const app = express()
  const ended: { path: string; leaves: AbortSignal }[] = []
  const closed = Promise.withResolvers<void>()
  app.get('/{*path}', (request, response) => {
    const leaves = leavesOf(response)
    response.once('close', () => {
      ended.push({ path: request.path, leaves })
      if (ended.length === 2) closed.resolve()
    })
    if (request.path === '/answered') response.send('whole')
    else response.write('a part')
  })
  const server = createServer(app)
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${await listen(server)}`
  const [whole] = await once(get(`${url}/answered`), 'response')
  await whole.resume().toArray()
  const asking = get(`${url}/left`)
  await once(asking, 'response')
  asking.on('error', () => {}).destroy()
  await closed.promise
  t.same(
    ended.map(({ path, leaves }) => [path, leaves.aborted]),
    [
      ['/answered', false],
      ['/left', true],
    ],
  )
  t.ok(ended[1]?.leaves.reason instanceof NoPermit)
})
