import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { bundlePages } from '#services/api/site/web'
import { startTestApi } from '#test/contract/api'

const KEY = 'a-key-for-operators-of-tests'
const api = await startTestApi(t, { OPERATOR_KEY: KEY })

/** As browsers ask for a page. */
const HTML = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const askForPage = (headers: Record<string, string> = {}) =>
  api.ask(null, '/', { headers: { ...HTML, ...headers } })

/** Paths of the files that a text names. */
const filesIn = (text: string) =>
  [...text.matchAll(/\/explore\/assets\/[\w.-]+/g)].map(([path]) => path)

t.test(
  'the page and its files are open to anyone, the page is asked for anew, files are kept',
  async t => {
    const page = await askForPage()
    t.equal(page.status, 200)
    t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    t.equal(page.headers.get('cache-control'), 'no-cache')
    t.notOk(page.headers.has('x-ratelimit-limit'), 'it costs nothing')
    const etag = page.headers.get('etag') ?? ''
    t.equal((await askForPage({ 'If-None-Match': etag })).status, 304)
    const files = filesIn(page.text)
    t.ok(files.length >= 2, 'a script and a style')
    for (const path of files) {
      const { status, headers } = await api.ask(null, path)
      t.equal(status, 200, path)
      t.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
      t.match(path, /-[A-Z0-9]{8}\.(js|css)$/, 'its name holds a digest')
    }
    t.equal(
      (await api.ask(null, '/explore/assets/none.js')).status,
      401,
      'any other path wants a key first',
    )
  },
)

t.test('decision 5: a program that asks for / gets the error of the contract', async t => {
  for (const accept of ['*/*', 'application/json', 'application/*, text/html;q=0.5']) {
    const { status, headers, text } = await api.ask(null, '/', { headers: { Accept: accept } })
    t.equal(status, 401, accept)
    t.match(headers.get('content-type'), 'application/json')
    t.match(text, /"missing_token"/)
  }
})

for (const page of ['explorer', 'status']) {
  t.test(
    `the policy of ${page} lets in no inline script or style, and nothing from elsewhere`,
    async t => {
      const { headers, text } =
        page === 'explorer' ? await askForPage() : await api.ask(KEY, '/status')
      const policy = headers.get('content-security-policy') ?? ''
      t.match(policy, /default-src 'none'/)
      t.match(policy, /script-src 'self'(;|$)/)
      t.match(policy, /style-src 'self'(;|$)/)
      t.notMatch(policy, /unsafe/)
      t.notMatch(text, /<style|<script>|<script [^>]*>[^<]|style=|\son\w+=/, 'there is none')
      t.notMatch(text, /https?:\/\//, 'no address of others')
    },
  )
}

t.test('the first view is below 100 kB compressed', async t => {
  const { pages, assets } = await bundlePages()
  const html = String(await pages.explorer.body('identity'))
  const first = new Set(filesIn(html))
  // Letters are named by the style, and chunks that are imported at once stand in the page.
  for (const path of [...first]) {
    if (!path.endsWith('.css')) continue
    for (const file of filesIn(String(await assets.get(path)?.body('identity')))) first.add(file)
  }
  const sizes = new Map<string, number>()
  for (const [path, file] of assets) sizes.set(path, (await file.body('br')).length)
  const sizeOf = (path: string) => sizes.get(path) ?? Number.NaN
  const page = (await pages.explorer.body('br')).length
  const sum = page + [...first].reduce((total, path) => total + sizeOf(path), 0)
  t.ok(sum < 86_000, `${sum} bytes before a search`)
  const chart = [...assets.keys()].find(path => path.includes('/chart-')) ?? ''
  t.ok(sum + sizeOf(chart) < 100_000, `${sum + sizeOf(chart)} bytes with the timeline`)
  for (const [path, file] of assets) {
    const identity = await file.body('identity')
    t.ok(brotliDecompressSync(await file.body('br')).equals(identity), path)
    t.ok(gunzipSync(await file.body('gzip')).equals(identity), path)
    t.equal(await file.body('br'), await file.body('br'), 'made once')
  }
})

t.test('what esbuild made is kept until a source changes, or the file is broken', async t => {
  const folder = t.testdir()
  const file = join(folder, 'pages.json')
  const style = async () => String(await (await bundlePages(folder)).docsStyle.body('identity'))
  const made = await style()
  const kept = JSON.parse(readFileSync(file, 'utf8'))
  const [path] = Object.keys(kept.files).filter(name => /docs-\w+\.css$/.test(name))
  const marked = { ...kept, files: { ...kept.files, [path ?? '']: btoa('/* kept */') } }
  const source = 'web/parts/docs.css'
  t.ok(kept.sources[source], 'sources are known')
  const changed = { ...marked, sources: { ...kept.sources, [source]: 'another digest' } }
  const gone = { ...marked, sources: { ...kept.sources, 'web/gone.tsx': 'a digest' } }
  const texts = [changed, gone].map(one => JSON.stringify(one))
  for (const [text, wanted] of [
    [JSON.stringify(marked), '/* kept */'],
    ...[...texts, '{"sources"', '{}'].map(text => [text, made] as const),
  ] as const) {
    writeFileSync(file, text)
    t.equal(await style(), wanted, text.slice(0, 40))
  }
  t.same(JSON.parse(readFileSync(file, 'utf8')), kept, 'the last one is kept in its place')
})
