import t from 'tap'
import { syncOutlets } from '#scripts/outlets/sync'
import { readOwnership } from '#services/crawler/page'
import type { Outlet } from '#shared/outlets/catalogue'
import { html, outletOf, rss, startScene } from './crawl.ts'
import OWNERS from './owners.json' with { type: 'json' }
import { redirect, reply } from './site.ts'

const { run, sites } = await startScene(t, ['127.0.0.1', '127.0.0.2', '127.0.0.3'])
const own = sites[0]!
const guest = sites[1]!
const other = sites[2]!

const outlet = (domain: string, hosts: string[], feeds: string[] = []) =>
  outletOf(domain, feeds, { hosts })
const sync = (...outlets: Outlet[]) => syncOutlets(run.pool, outlets)

t.test('a host belongs to the outlet with the longest domain or host that covers it', async t => {
  await sync(
    outlet('uitgever.example', ['krant.example', '127.0.0.1:8080']),
    outlet('regio.uitgever.example', []),
    outlet('tweede.example', ['krant.example', 'blog.krant.example', 'hëllef.example']),
  )
  const { rows } = await run.pool.query<{ domain: string; outlet_no: number }>(
    'select domain, outlet_no from outlets',
  )
  const numbers = new Map(rows.map(row => [row.domain, row.outlet_no]))
  const owner = async (domain: string, url: string) => {
    const found = await readOwnership(run.pool, numbers.get(domain) ?? 0, new URL(url))
    return found.of === 'another outlet' ? found.domain : found.of
  }
  for (const { domain, url, whose } of OWNERS)
    t.equal(await owner(domain, url), whose, `${url} of ${domain}`)
  await sync(outlet('uitgever.example', ['krant.example']))
  const shown = await owner('uitgever.example', 'https://blog.krant.example/a')
  t.equal(shown, 'outlet', 'who left the catalogue owns nothing')
})

t.test(
  'a feed’s words count for hosts of its outlet alone, and pages of other outlets are theirs',
  async t => {
    const words = {
      title: 'Verzonnen',
      description: 'Verzonnen tekst',
      pubDate: 'Tue, 24 Nov 2026 10:00:00 GMT',
    }
    own.on('/page', html('own'))
    own.on('/wall', reply(403))
    guest.on('/page', html('guest'))
    guest.on('/wall', reply(403))
    other.on('/page', html('other'))
    own.on('/to-guest', redirect(`${guest.origin}/page`))
    own.on('/to-guests-wall', redirect(`${guest.origin}/wall`))
    own.on('/to-other', redirect(`${other.origin}/page`))
    guest.on('/to-own', redirect(`${own.origin}/page`))
    const named = [
      ...['/page', '/wall', '/to-guest', '/to-guests-wall', '/to-other'].map(
        path => own.origin + path,
      ),
      ...['/page', '/wall', '/to-own'].map(path => guest.origin + path),
      `${other.origin}/named`,
      `http://localhost.:${other.port}/dot`,
    ]
    own.on('/feed.xml', rss(...named.map(link => ({ ...words, link }))))
    await sync(
      outlet('a.example', ['127.0.0.1'], [`${own.origin}/feed.xml`]),
      outlet('b.example', ['127.0.0.3', 'localhost']),
    )
    await run.workOff()
    const has = async (url: string) => {
      const page = await run.page(url)
      return [page?.state, page?.reason ?? page?.entry?.title ?? null]
    }
    t.same(await has(`${own.origin}/page`), ['stored', 'Verzonnen'])
    t.same(await has(`${own.origin}/wall`), ['stored', 'Verzonnen'], 'from the feed alone')
    t.same(await has(`${guest.origin}/page`), ['stored', null], 'the page itself says what it is')
    t.same(await has(`${guest.origin}/wall`), ['refused', 'foreign host'])
    t.same(
      await has(`${guest.origin}/to-own`),
      ['stored', 'Verzonnen'],
      'services that shorten addresses',
    )
    t.same(
      await has(`${own.origin}/to-guest`),
      ['stored', 'Verzonnen'],
      'the normaliser tells consent pages apart',
    )
    t.same(
      await has(`${own.origin}/to-guests-wall`),
      ['stored', 'Verzonnen'],
      'under the address of the outlet',
    )
    t.same(await has(`${own.origin}/to-other`), ['refused', 'other outlet'])
    t.same(await has(`${other.origin}/named`), ['refused', 'other outlet'])
    t.equal(other.to('/named').length, 0, 'it is not even asked for')
    const dotted = await has(`http://localhost:${other.port}/dot`)
    t.same(dotted, ['refused', 'other outlet'], 'a dot at the end of a name makes no other host')
    const foreign = async (url: string) =>
      (await run.page(url))?.entry as { foreign?: string } | null
    t.match(await foreign(`${own.origin}/to-guest`), { foreign: 'answered' })
    t.match(await foreign(`${guest.origin}/to-own`), { foreign: 'named' })
    t.equal((await foreign(`${own.origin}/page`))?.foreign, undefined)
    const { entry } = (await run.page(`${guest.origin}/page`)) ?? {}
    t.match(entry, {
      url: `${guest.origin}/page`,
      summary: null,
      content: null,
      published: null,
      authors: [],
    })
  },
)
