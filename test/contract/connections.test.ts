import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { HTTP_LIMITS } from '#services/api/http/limits'
import { createHttpServer } from '#services/api/http/server'
import { heard, listen } from '#test/fleet'
import { startTestApi } from './api.ts'
import { answersIn, sendRaw } from './raw.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()
const key = `Authorization: Bearer ${secret}\r\n`
const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`

/** A server of the API's kind until the test ends, and a port of it. */
async function serve(
  test: Test,
  listener: RequestListener,
  limits: Parameters<typeof createHttpServer>[1] = {},
) {
  const server = createHttpServer(listener, limits)
  test.teardown(() => server.close())
  return { server, port: await listen(server) }
}

/** Longest that anything here may take, in ms, on a busy machine. */
const SOON = 10_000

t.test('a CONNECT has its answer, and its connection ends though the peer holds it', async t => {
  t.match(
    (await sendRaw(api.base, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')).text,
    /^HTTP\/1\.1 401 .*missing_token/s,
  )
  const { text } = await sendRaw(api.base, `CONNECT x:1 HTTP/1.1\r\nHost: x\r\n${key}\r\n`)
  t.match(text, /^HTTP\/1\.1 404 /)
  const after = await sendRaw(
    api.base,
    `${request('/v1/articles', key)}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`,
  )
  const answered = answersIn(after.text).map(({ status }) => status)
  t.strictSame(answered, [200], 'after another request it goes without')
})

t.test('what is right before what is wrong is answered first', async t => {
  const { text } = await sendRaw(
    api.base,
    `${request('/v1/articles', key)}${request('/healthz')}hello\r\n\r\n${request('/healthz')}`,
  )
  const answers = answersIn(text)
  const statuses = answers.map(({ status }) => status)
  t.strictSame(statuses, [200, 200, 400])
  t.equal(JSON.parse(answers[0]?.body ?? '').status, 'ok')
  t.equal(answers[1]?.body, '{"status":"ok"}')
})

t.test('a broken body takes nothing from the answer, and is none of its own', async t => {
  const { text } = await sendRaw(
    api.base,
    `POST /v1/articles HTTP/1.1\r\nHost: x\r\n${key}Transfer-Encoding: chunked\r\n\r\nno chunk\r\n`,
  )
  const statuses = answersIn(text).map(({ status }) => status)
  t.strictSame(statuses, [405])
})

t.test('thousands of requests in one packet are not begun all at once', async t => {
  const { text } = await sendRaw(api.base, request('/v1/articles?per_page=1', key).repeat(500))
  const answers = answersIn(text)
  t.equal(answers.filter(({ status }) => status === 200).length, HTTP_LIMITS.unanswered)
  t.equal(answers.length, HTTP_LIMITS.unanswered + 1)
  t.match(answers.at(-1)?.body, /Wait for answers/)
})

t.test(
  'decision 11: an address as it must not be written is 408, too, when it is slow',
  async t => {
    const { port } = await serve(t, () => {}, { headersTimeout: 300, checkInterval: 100 })
    const { text } = await sendRaw(
      `http://127.0.0.1:${port}`,
      'GET /é HTTP/1.1\r\nHost: x\r\nX-Late: ',
    )
    t.match(text, /^HTTP\/1\.1 408 /)
  },
)

t.test('no header is dropped in silence', async t => {
  const many = (count: number) => 'X: y\r\n'.repeat(count)
  const taken = await sendRaw(
    api.base,
    request('/v1/articles', `${many(HTTP_LIMITS.headers - 3)}Connection: close\r\n${key}`),
  )
  t.match(taken.text, /^HTTP\/1\.1 200 /, 'the key is the hundredth')
  const refused = await sendRaw(
    api.base,
    request('/v1/articles', `${many(HTTP_LIMITS.headers - 1)}${key}`),
  )
  t.match(refused.text, /^HTTP\/1\.1 431 [\s\S]*"status":"error"/)
})

t.test('nobody is asked for a body', async t => {
  for (const headers of [
    '100-continue\r\nContent-Length: 1000000000',
    '200-maybe\r\nConnection: close',
  ]) {
    const { text } = await sendRaw(
      api.base,
      request('/v1/articles', `${key}Expect: ${headers}\r\n`),
    )
    t.match(text, /^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/, headers)
  }
})

t.test('a body of any size is not kept', async t => {
  const before = process.memoryUsage().rss
  const socket = connect(Number(new URL(api.base).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  const closed = new Promise(resolve => socket.once('close', resolve))
  const pieces = 6_400
  const piece = Buffer.alloc(65_536)
  socket.write(request('/v1/articles', `${key}Content-Length: ${pieces * piece.length}\r\n`))
  const sent = new Promise<void>(resolve => {
    let left = pieces
    const go = () => {
      while (left > 0 && socket.write(piece)) left--
      if (left-- <= 0) resolve()
    }
    socket.on('drain', go)
    go()
  })
  await Promise.race([sent, closed])
  socket.destroy()
  t.ok(process.memoryUsage().rss - before < 200 * 1_048_576, 'memory stays')
})

t.test('a connection ends after many requests, announced with the last answer', async t => {
  const { port } = await serve(t, (_request, response) => void response.end('x'))
  const socket = connect(port, '127.0.0.1')
  const text = heard(socket)
  const closed = once(socket, 'close')
  for (let i = 1; i <= HTTP_LIMITS.requestsPerConnection; i++) {
    const answer = once(socket, 'data')
    socket.write(request('/'))
    await answer
  }
  await closed
  t.equal(text().match(/Connection: close/g)?.length, 1)
  t.equal(answersIn(text()).length, HTTP_LIMITS.requestsPerConnection)
})

t.test('who does not take an answer in its time is cut off', async t => {
  const taken = Promise.withResolvers<boolean>()
  const listener: RequestListener = (_request, response) => {
    response.once('close', () => taken.resolve(response.writableFinished))
    response.end(Buffer.alloc(64 << 20))
  }
  const { server, port } = await serve(t, listener, { answerTimeout: 1_000 })
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(request('/')) // and reads nothing
  t.notOk(await Promise.race([taken.promise, once(server, 'timeout')]))
  socket.destroy()
})

t.test('neither one address nor idle connections can shut others out', async t => {
  const bounds = { connections: 8, connectionsPerAddress: 4 }
  const { port } = await serve(t, (_request, response) => void response.end('x'), bounds)
  const idle = async (localAddress: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    socket.write(request('/'))
    await new Promise(resolve => socket.once('data', resolve).once('close', resolve))
    return socket
  }
  const greedy = await Promise.all(Array.from({ length: 6 }, () => idle('127.0.0.2')))
  t.equal(greedy.filter(socket => !socket.destroyed).length, 4, 'one address has its share')
  const others = await Promise.all(Array.from({ length: 4 }, () => idle('127.0.0.3')))
  t.equal(others.filter(socket => !socket.destroyed).length, 4)
  await idle('127.0.0.4') // dropped, and room is made
  const end = Date.now() + SOON
  let late = await idle('127.0.0.4')
  while (late.destroyed && Date.now() < end) late = await idle('127.0.0.4')
  t.notOk(late.destroyed, 'a newcomer comes in')
  for (const socket of [...greedy, ...others, late]) socket.destroy()
})

t.test(
  'half-open connections of four addresses keep nobody out, nor those of one its neighbours',
  async t => {
    const bounds = { connections: 16, connectionsPerAddress: 4 }
    const { port } = await serve(t, (_request, response) => void response.end('x'), bounds)
    const sockets: Socket[] = []
    t.teardown(() => {
      for (const socket of sockets) socket.destroy()
    })
    const open = async (localAddress: string, bytes: string): Promise<Socket> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress })
      sockets.push(socket)
      socket.on('error', () => {}).write(bytes)
      await once(socket, 'connect')
      return socket
    }
    for (const n of [2, 3, 4, 5]) {
      for (const bytes of ['', 'GET /slow HTTP/1.1\r\n', '', '']) await open(`127.0.0.${n}`, bytes)
    }
    const answered: Socket[] = []
    // As many as there are places, and a neighbour at an address whose places are all taken.
    for (const n of [2, 2, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8]) {
      const socket = await open(`127.0.0.${n}`, request('/'))
      t.match(
        await Promise.race([once(socket, 'data'), once(socket, 'close')]),
        [/^HTTP\/1\.1 200/],
        `127.0.0.${n}`,
      )
      answered.push(socket)
    }
    t.equal(
      answered.filter(socket => !socket.destroyed).length,
      12,
      'those that were answered stay',
    )
  },
)

t.test('who leaves is known to have left by the requests that wait behind others, too', async t => {
  const begun: ServerResponse[] = []
  const both = Promise.withResolvers<void>()
  const { port } = await serve(t, (_request, response) => {
    if (begun.push(response) === 2) both.resolve()
  })
  const socket = connect(port, '127.0.0.1')
  socket.write(request('/first') + request('/second'))
  await both.promise
  const closed = begun.map(response =>
    once(response, 'close', { signal: AbortSignal.timeout(SOON) }),
  )
  socket.destroy()
  await Promise.all(closed)
  const destroyed = begun.map(response => response.destroyed)
  t.strictSame(destroyed, [true, true], 'they cost nothing of the month, and wait for no permit')
})
