import t from 'tap'
import { chooseHosts, type DueHost, siteOf, type UnderWay } from '#services/crawler/hosts/due'
import SITES from './sites.json' with { type: 'json' }

const NONE = new Set<string>()
const candidate = (host: string, outletNo: number, more: Partial<DueHost> = {}): DueHost => ({
  host,
  outletNo,
  catalogued: false,
  slowed: false,
  ...more,
})
const many = (
  count: number,
  outletNo: number,
  name: (at: number) => string,
  more: Partial<DueHost> = {},
) => Array.from({ length: count }, (_, at) => candidate(name(at), outletNo, more))
const hosts = (candidates: DueHost[], underWay: UnderWay[] = [], limit = 500) =>
  chooseHosts(candidates, underWay, NONE, limit).map(({ host }) => host)

t.test(
  'an outlet has four hosts visited at a time, whatever it names; one when its pages are late',
  async t => {
    const own = (at: number) => `host${at}.example`
    t.equal(hosts(many(2_000, 1, own)).length, 4)
    t.equal(hosts(many(2_000, 1, own, { slowed: true })).length, 1)
    const visited = many(3, 1, at => `other${at}.example`).map(one => ({ ...one, pausing: false }))
    t.same(hosts(many(2_000, 1, own), visited), ['host0.example'])
    t.same(hosts(many(2_000, 1, own, { slowed: true }), visited), [])
    for (const more of [{ pausing: true }, { catalogued: true }])
      t.equal(
        hosts(
          many(9, 1, own),
          visited.map(one => ({ ...one, ...more })),
        ).length,
        4,
        'these are not counted',
      )
  },
)

t.test('outlets take turns: the first host of each comes before the second of any', async t => {
  const greedy = many(100, 1, at => `greedy${at}.example`)
  const honest = Array.from({ length: 20 }, (_, at) => candidate(`honest${at}.example`, 10 + at))
  const chosen = hosts([...greedy, ...honest])
  t.same(chosen.slice(0, 21).sort(), ['greedy0.example', ...honest.map(({ host }) => host)].sort())
  t.equal(chosen.length, 24)
  t.equal(hosts([...greedy, ...honest], [], 20).length, 20)
})

t.test('a site has four hosts visited or pausing at a time, whoever names them', async t => {
  const subdomains = Array.from({ length: 40 }, (_, at) => candidate(`s${at}.tarpit.example`, at))
  t.equal(hosts(subdomains).length, 4)
  const pausing = ['a', 'b', 'c', 'd'].map(name => ({
    host: `${name}.tarpit.example`,
    outletNo: 99,
    catalogued: false,
    pausing: true,
  }))
  t.same(hosts(subdomains, pausing), [])
  t.same(
    hosts([candidate('a.tarpit.example', 99)], pausing),
    ['a.tarpit.example'],
    'whose own pause is nearly over',
  )
})

t.test('hosts of the catalogue are not counted: nobody but the operator names them', async t => {
  const feeds = Array.from({ length: 40 }, (_, at) =>
    candidate(`f${at}.group.example`, 1, { catalogued: true }),
  )
  t.equal(hosts(feeds).length, 40)
  t.equal(hosts([...feeds, ...many(9, 1, at => `w${at}.group.example`)]).length, 44)
  const visited = many(4, 1, at => `v${at}.group.example`).map(one => ({ ...one, pausing: false }))
  t.equal(hosts(feeds, visited).length, 40, 'not even where the limits are reached')
})

t.test('a host that is visited already is not called', async t => {
  t.same(hosts([candidate('a.example', 1)], [{ ...candidate('a.example', 2), pausing: false }]), [])
  t.same(hosts([candidate('a.example', 1), candidate('a.example', 2)]), ['a.example'])
})

t.test('what a site is', async t => {
  const domains = new Set(['north.example.test'])
  for (const { host, site } of SITES) {
    t.equal(siteOf(host, domains), site, host)
  }
})
