import { execFile } from 'node:child_process'
import type { X509Certificate } from 'node:crypto'
import type { ServerOptions } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { type CertificateOptions, type Certified, certify } from './certificates.ts'
import { html, rss, startCrawl } from './crawl.ts'
import { pour, reply, startSite } from './site.ts'

const root = certify({ name: 'Root of the tests', issuer: null, authority: true })
const stranger = certify({ name: 'Root of others', issuer: null, authority: true })
const run = await startCrawl({ CRAWL_TIMEOUT: '20s' }, undefined, [root.certificate])
const authority = await startSite('127.0.0.9')
t.teardown(() => Promise.all([run.close(), authority.close()]))

const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']
const leaf = (options: Partial<CertificateOptions> = {}) =>
  certify({ name: 'krant.example', issuer: root, hosts: HOSTS, ...options })
const middle = (name: string, options: Partial<CertificateOptions> = {}) =>
  certify({ name, issuer: root, authority: true, ...options })

/** Serves a certificate of an authority as DER. Returns its address. */
function publish(path: string, certificate: X509Certificate): string {
  authority.on(path, reply(200, { 'content-type': 'application/pkix-cert' }, certificate.raw))
  return `http://${authority.host}${path}`
}

/** Polls one feed of one outlet, and fetches its pages. What became of both. */
async function crawlOf(origin: string): Promise<{ error: string | null; pages: string[] }> {
  await run.forget()
  await run.pool.query(
    "update hosts set free_at = 'epoch', robots_until = 'epoch', robots_blocked = false",
  )
  await run.outlets({ 'krant.example': [`${origin}/feed.xml`] })
  await run.workOff()
  return {
    error: (await run.feed())?.error ?? null,
    pages: (await run.pages()).map(({ state }) => state),
  }
}

/**
 * A site with a feed that names one page.
 *
 * @param chain the certificates that the server sends after its own
 */
async function krant(
  t: Test,
  own: Certified,
  chain: Certified[] = [],
  options: ServerOptions = {},
  address?: string,
) {
  const cert = [own, ...chain].map(({ certificate }) => certificate).join('')
  const site = await startSite(address, { key: own.key, cert, ...options })
  t.teardown(() => site.close())
  site.on('/feed.xml', rss(`${site.origin}/a`))
  site.on('/a', html('een artikel'))
  return site
}

t.test(
  'an incomplete chain: the missing certificates are fetched once, in the turns of their host',
  async t => {
    const first = middle('First')
    const second = middle('Second', { issuer: first, issuerAt: publish('/first.crt', first.x509) })
    const own = leaf({ issuer: second, issuerAt: publish('/second.crt', second.x509) })
    const site = await krant(t, own)
    t.same(await crawlOf(site.origin), { error: null, pages: ['stored'] })
    t.same(authority.seen.map(({ path }) => path).sort(), ['/first.crt', '/second.crt'])
    const { rows } = await run.pool.query<{ hosts: number; bytes: string; permits: string }>(
      `select l.hosts, l.bytes, (select count(*) from hosts where host = $1 and permit is null and free_at > 'epoch') as permits
       from outlet_loads l`,
      [authority.host],
    )
    t.match(rows, [{ hosts: 1, permits: '1' }], 'the host counts for the outlet, and had a permit')
    t.ok(Number(rows[0]?.bytes) > 500)
    t.same(await crawlOf(site.origin), { error: null, pages: ['stored'] })
    t.equal(authority.seen.length, 2, 'they are remembered')
    const sibling = await krant(t, leaf({ issuer: second }), [], {}, '127.0.0.2')
    t.same(
      await crawlOf(sibling.origin),
      { error: null, pages: ['stored'] },
      'and fill the gaps of other chains',
    )
  },
)

t.test(
  'an incomplete chain that cannot be completed says so, and is tried once an hour',
  async t => {
    const lonely = middle('Lonely')
    const foreign = certify({ name: 'Foreign', issuer: stranger, authority: true })
    const none = certify({ name: 'No authority', issuer: root })
    const issuers: [string, Certified, string | undefined][] = [
      ['names no address', lonely, undefined],
      ['nothing is there', lonely, `http://${authority.host}/nothing.crt`],
      ['another certificate is there', lonely, publish('/other.crt', foreign.x509)],
      ['a root of others signed it', foreign, publish('/foreign.crt', foreign.x509)],
      [
        'the root itself is there, and is not trusted',
        stranger,
        publish('/stranger.crt', stranger.x509),
      ],
      ['the issuer is no authority', none, publish('/none.crt', none.x509)],
      ['no certificate is there', lonely, `http://${authority.host}/text.crt`],
      ['it never ends', lonely, `http://${authority.host}/endless.crt`],
      ['it is private', lonely, 'http://10.0.0.1/private.crt'],
      ['it needs TLS', lonely, 'https://127.0.0.9/tls.crt'],
    ]
    authority.on('/text.crt', 'no certificate')
    authority.on('/endless.crt', pour('x'.repeat(10_000)))
    for (const [name, issuer, issuerAt] of issuers) {
      const site = await krant(
        t,
        leaf({ issuer, ...(issuerAt === undefined ? {} : { issuerAt }) }),
        [],
        {},
        '127.0.0.3',
      )
      t.match(
        await crawlOf(site.origin),
        { error: /does not send all certificates/, pages: [] },
        name,
      )
      const before = authority.seen.length
      await crawlOf(site.origin)
      t.equal(authority.seen.length, before, `${name}: not again`)
      t.same(site.seen, [], 'nothing was asked over such a connection')
    }
  },
)

t.test('certificates that no browser accepts are a failure that says why', async t => {
  const expired = await krant(t, leaf({ until: new Date('2021-01-01T00:00:00Z') }))
  t.match(await crawlOf(expired.origin), { error: /the certificate has expired/, pages: [] })
  const own = await krant(t, leaf({ issuer: null }))
  t.match(await crawlOf(own.origin), { error: /signed by itself/ })
  const others = await krant(t, leaf({ issuer: stranger }), [stranger])
  t.match(await crawlOf(others.origin), { error: /an authority that is not trusted/ })
  const misnamed = await krant(t, leaf({ hosts: ['elders.example'] }))
  t.match(await crawlOf(misnamed.origin), { error: /that of another host/ })
  for (const site of [expired, own, others, misnamed]) t.same(site.seen, [])
})

t.test(
  'old servers: TLS 1.2 with RSA keys and ciphers of its first days; older versions are refused',
  async t => {
    const rsa = leaf({ rsa: true })
    for (const ciphers of ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-SHA', 'AES128-SHA']) {
      const site = await krant(t, rsa, [], { maxVersion: 'TLSv1.2', ciphers })
      t.same(await crawlOf(site.origin), { error: null, pages: ['stored'] }, ciphers)
    }
    const ancient = await krant(t, rsa, [], {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    t.match(await crawlOf(ancient.origin), {
      error: /no secure connection could be made/,
      pages: [],
    })
  },
)

t.test('authorities of the operator are trusted: NODE_EXTRA_CA_CERTS', async t => {
  const own = certify({ name: 'krant.example', issuer: root })
  const file = join(t.testdir({ 'root.pem': root.certificate }), 'root.pem')
  const program = `
    import { X509Certificate } from 'node:crypto'
    import { createTrust } from ${JSON.stringify(new URL('../../services/crawler/fetch/certificates.ts', import.meta.url))}
    console.log(createTrust().isIssuedByAuthority(new X509Certificate(process.env.OWN)))`
  const run = async (env: Record<string, string>) => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', program],
      {
        env: { ...process.env, OWN: own.certificate, ...env },
      },
    )
    return stdout.trim()
  }
  t.equal(await run({}), 'false')
  t.equal(await run({ NODE_EXTRA_CA_CERTS: file }), 'true')
})
