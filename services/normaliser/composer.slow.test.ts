import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { storedPage } from '#test/normaliser/pages'
import { watchTurns } from '#test/turns'
import { ComposeError, openComposer } from './composer.ts'

// The tests may run at the same time, because they mostly wait.
t.jobs = 3

const worker = new URL('../../test/normaliser/misbehaving-composer.ts', import.meta.url)
const page = (url: string) => storedPage('body', { url, contentType: null })

t.test('a page that hangs, eats memory, throws or ends its thread fails alone', async t => {
  const composer = openComposer({ threads: 2, timeout: 5_000, worker })
  t.teardown(() => composer.close())
  const patient = openComposer({ threads: 1, timeout: 20_000, memory: 64, worker })
  t.teardown(() => patient.close())
  const failure = async (url: string, by = composer) => {
    const error = await by.compose(page(url)).catch((error: unknown) => error)
    return error instanceof ComposeError ? error.failure : error
  }
  t.equal(await failure('throw'), 'error')
  t.equal(await failure('hang'), 'timeout')
  t.equal(await failure('eat', patient), 'memory')
  t.equal(await failure('exit'), 'error')
  t.same((await composer.compose(page('good'))).kind, 'refused')
})
t.test('good pages go through beside a page that hangs', async t => {
  const composer = openComposer({ threads: 2, timeout: 6_000, worker })
  t.teardown(() => composer.close())
  let hangs = true
  const hanging = composer.compose(page('hang')).catch(() => {
    hangs = false
  })
  await Promise.all(Array.from({ length: 20 }, () => composer.compose(page('good'))))
  t.equal(hangs, true)
  await hanging
  t.equal(hangs, false)
})

t.test('the time that a page waits for a thread does not count', async t => {
  const composer = openComposer({ threads: 1, timeout: 3_000, worker })
  t.teardown(() => composer.close())
  await composer.compose(page('good'))
  const results = await Promise.all(
    Array.from({ length: 5 }, () => composer.compose(page('sleep'))),
  )
  t.equal(results.length, 5)
})

const slow = new URL('../../test/normaliser/slow-composer.ts', import.meta.url)

t.test('the time that a fresh thread takes to start does not count', async t => {
  const composer = openComposer({ threads: 1, timeout: 1_000, worker: slow })
  t.teardown(() => composer.close())
  const began = performance.now()
  t.equal((await composer.compose(page('good'))).kind, 'refused')
  t.ok(performance.now() - began > 2_000, 'though it took longer than a page may')
})

t.test('no thread is ended while it loads its modules, because Node crashes then', async t => {
  const composer = openComposer({ threads: 1, timeout: 1_000, worker: slow })
  const began = performance.now()
  const work = composer.compose(page('good')).catch(() => {})
  await turn()
  await composer.close()
  t.ok(performance.now() - began > 2_000)
  await work
})

t.test('a page that waits for a thread is given up when the service stops', async t => {
  const composer = openComposer({ threads: 1, timeout: 5_000, worker })
  const stopping = new AbortController()
  const first = composer.compose(page('sleep'))
  const second = composer.compose(page('good'), { signal: stopping.signal })
  stopping.abort(new Error('stopping'))
  await t.rejects(second, { message: 'stopping' })
  await first
  await t.rejects(composer.compose(page('good'), { signal: stopping.signal }), {
    message: 'stopping',
  })
  const third = composer.compose(page('hang')).catch((error: unknown) => error)
  await composer.close()
  t.ok((await third) instanceof ComposeError)
})

t.test('a megabyte of text costs the event loop no tenth of a second', async t => {
  const composer = openComposer({ threads: 1, timeout: 110_000 })
  t.teardown(() => composer.close())
  const sentence = (at: number) =>
    `De brug over de Maas blijft dicht, zegt bewoner ${at} van huis ${at * 7}.`
  const text = Array.from({ length: 18_000 }, (_, at) => `<p>${sentence(at)}</p>`).join('')
  const html = `<html lang="nl"><head><title>Brug dicht</title></head><body><article><h1>Brug dicht</h1>${text}</article></body></html>`
  t.ok(html.length > 1_000_000)
  const longestTurn = watchTurns()
  const composition = await composer.compose({
    ...page('https://n.example/brug'),
    body: Buffer.from(html),
  })
  const longest = longestTurn()
  t.equal(composition.kind, 'article')
  t.ok(
    composition.kind === 'article' &&
      (composition.article.prepared?.words.body.length ?? 0) > 200_000,
    'its words are cut',
  )
  t.ok(longest < 100, `${longest} ms`)
})
