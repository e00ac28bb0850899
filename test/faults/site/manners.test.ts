import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startSite } from '../../crawler/site.ts'
import { watchManners } from './manners.ts'

t.test('two requests at once are rude, unless the first is of a process that stands still', async t => {
  const manners = watchManners('host', 0, 1_000)
  const site = await startSite()
  t.teardown(() => site.close())
  const leaving = new AbortController()
  for (const path of ['/silent', '/quick']) {
    site.on(path, (_request, response) => {
      const over = manners.watch(path, response)
      if (path === '/silent') return
      over()
      response.end('')
    })
  }
  fetch(`${site.origin}/silent`, { signal: leaving.signal }).catch(() => {})
  while (site.to('/silent').length === 0) await sleep(10)
  await fetch(`${site.origin}/quick`)
  t.equal(manners.breaches.length, 1)
  t.match(manners.breaches[0], /asked for \/quick .* while \/silent was not answered yet/)
  leaving.abort()

  fetch(`${site.origin}/silent`).catch(() => {})
  while (site.to('/silent').length === 1) await sleep(10)
  await sleep(1_100)
  await fetch(`${site.origin}/quick`)
  t.equal(manners.breaches.length, 1, 'nobody waits for it for ever')
})
