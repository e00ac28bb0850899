import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { PACKAGES } from '#clients/build'
import { listedStopWords } from '#search/analysis/index'
import { ALL_ERRORS, ERRORS } from '#services/api/contract/errors'
import { ERROR_SCHEMA, PAGE_SCHEMA } from '#services/api/contract/resources'
import operations from '#services/api/desk/operations.json' with { type: 'json' }
import { LANGUAGES } from '#shared/articles/article'
import { run } from '#test/script'
import { startTestApi } from './api.ts'

const api = await startTestApi(t, { SERVICE_NAME: 'Nieuws' })
const { secret } = await api.issue({ countries: ['NL', 'BE'] })
await api.index([
  { title: 'Alles', body: 'Een tekst.', authors: ['Anna de Wit'] },
  {
    title: 'Niets',
    publishedAt: null,
    ingestedAt: null,
    outlet: { name: null, domain: 'x.example' },
  },
  { title: 'Sans texte', language: 'fr', country: 'BE' },
])
const document = (await api.ask(null, '/v1/openapi.json')).json

t.test('the OpenAPI documents of both kinds of operations are 3.1 and linted clean', async t => {
  t.equal(document.openapi, '3.1.0')
  const { json: explore } = await api.ask(null, '/explore/openapi.json')
  const folder = t.testdir()
  const files = [document, explore].map((one, at) => {
    const file = join(folder, `${at}.json`)
    writeFileSync(file, JSON.stringify(one))
    return file
  })
  const redocly = new URL('../../node_modules/.bin/redocly', import.meta.url).pathname
  const { stdout } = await run(
    redocly,
    ['lint', '--extends=recommended', '--format=json', ...files],
    {
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  )
  t.equal(stdout.match(/"problems": \[\]/g)?.length, 2, stdout)
})

t.test('it has both operations, every parameter with its bounds, every code', async t => {
  const { parameters, schemas } = document.components
  t.strictSame(Object.keys(document.paths), ['/v1/articles', '/v1/articles.rss'])
  t.equal(parameters.q.schema.maxLength, 191)
  t.equal(parameters.cursor.schema.maxLength, 255)
  t.notOk('default' in parameters.search_in.schema, 'not every search may write it')
  for (const name of ['Page', 'Article', 'Author', 'Outlet', 'Error']) {
    t.notOk('additionalProperties' in schemas[name], 'fields may be added')
  }
  t.match(parameters.per_page.schema, { type: 'integer', minimum: 1, maximum: 100, default: 25 })
  t.strictSame(schemas.Country.enum, ['NL', 'BE', 'LU'])
  t.strictSame(schemas.Language.enum, ['nl', 'fr', 'de', 'lb', 'en'])
  // Issue 37.9: one type for each in generated clients.
  for (const [name, schema] of Object.entries({ country: 'Country', language: 'Language' })) {
    t.equal(parameters[name].schema.items.$ref, `#/components/schemas/${schema}`)
    t.equal(schemas.Article.properties[name].$ref, `#/components/schemas/${schema}`)
  }
  const inlined = JSON.stringify(document).match(
    /"enum":\["(NL|nl|keyword|title|published_at|asc|yes)"/g,
  )
  t.equal(inlined?.length, 7, 'each stands once')
  t.strictSame(schemas.Error.properties.code.enum, Object.keys(ERRORS))
  const names = (path: string) =>
    document.paths[path].get.parameters.map(
      (one: { $ref?: string; name?: string }) => one.name ?? one.$ref?.split('/').at(-1),
    )
  t.ok(names('/v1/articles').includes('cursor'))
  t.notOk(names('/v1/articles.rss').includes('cursor'))
})

t.test('what operations.json names as an error is one', async t => {
  const named = Object.values(operations)
    .flatMap(of => Object.values<object>(of))
    .flatMap(one => ('errors' in one && Array.isArray(one.errors) ? one.errors : []))
  t.ok(named.length > 5)
  t.same(
    named.filter(code => !(code in ALL_ERRORS)),
    [],
  )
})

t.test('decision 40: it shows each list of stop words whole', async t => {
  for (const language of LANGUAGES) {
    const line = String(document.info.description)
      .split('\n')
      .find(one => one.startsWith(`- **${language}**: `))
    const { base, added } = listedStopWords(language)
    t.strictSame(line?.split(': ')[1]?.split(' ').sort(), [...base, ...added].sort(), language)
  }
})

t.test('its patterns mean the same to readers that know no Unicode classes', async t => {
  const examples: Record<string, string> = {
    cursor: 'AWY3_-',
    published_after: '2026-11-20',
    published_before: '2100-01-01',
  }
  let patterns = 0
  interface Patterned {
    pattern?: string
    anyOf?: Patterned[]
  }
  for (const [name, parameter] of Object.entries<{ schema: Patterned }>(
    document.components.parameters,
  )) {
    const schema = parameter.schema.anyOf?.[0] ?? parameter.schema
    if (schema.pattern === undefined) continue
    patterns++
    for (const flags of ['', 'u']) {
      const pattern = new RegExp(schema.pattern, flags)
      t.ok(
        pattern.test(
          examples[name] ?? (name === 'ingested_after' ? '1900-01-01T00:00:00Z' : 'café 語 "x" -½'),
        ),
        name,
      )
      t.notOk(pattern.test(name.includes('ed_') ? '1899-12-31' : '\0'), name)
    }
    t.notMatch(schema.pattern, /\\p/)
  }
  t.ok(patterns >= 7)
})

const ajv = new Ajv2020({ strict: false, formats: { uri: true, 'date-time': true } })
const isPage = ajv.compile(PAGE_SCHEMA)
const isError = ajv.compile(ERROR_SCHEMA)

t.test('the contract: pages are as the document says', async t => {
  for (const query of [
    '',
    'per_page=1',
    'q=niets',
    'published_before=1990-01-01',
    'sort=ingested_at',
  ]) {
    const { json } = await api.ask(secret, `/v1/articles?${query}`)
    t.ok(isPage(json), JSON.stringify(isPage.errors))
  }
  const { json } = await api.ask(secret, '/v1/articles?order=asc')
  t.strictSame(Object.keys(json), ['status', 'total_results', 'next_cursor', 'articles'])
  const [first, second] = json.articles
  const fields = 'id title url snippet published_at ingested_at authors outlet language country'
  t.equal(Object.keys(first).join(' '), fields)
  t.match(first, {
    title: 'Alles',
    snippet: 'Een tekst.',
    authors: [{ name: 'Anna de Wit' }],
    language: 'nl',
    country: 'NL',
  })
  t.match(first.published_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.strictSame(second.authors, [])
  t.equal(second.snippet, null)
})

t.test(
  'decision 38: there is one version; decision 39: below it are the two operations and nothing else',
  async t => {
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/docs',
      '/v1/status',
      '/v1/counts',
      '/v1/explorer',
      '/v1/feeds',
      '/v1/articles/',
      '/articles',
      '/v0/articles',
      '/v2/articles',
      '/v1.0/articles',
    ]) {
      const { status, json } = await api.ask(secret, path)
      t.strictSame([status, json.code], [404, 'not_found'], path)
    }
  },
)

t.test('decision 14: an article with neither time is never served', async t => {
  const { json } = await api.ask(secret, '/v1/articles')
  t.notOk(json.articles.some((article: { title: string }) => article.title === 'Niets'))
})

t.test('decision 7: errors are as the document says, with the status that it names', async t => {
  for (const path of [
    '/v1/articles?foo=1',
    '/v1/articles?country=LU',
    '/v1/nothing',
    '/v1/articles?search=semantic&q=ab',
  ]) {
    const { status, json } = await api.ask(secret, path)
    t.ok(isError(json), JSON.stringify(isError.errors))
    t.equal(status, ERRORS[json.code as keyof typeof ERRORS].status)
    t.equal('errors' in json, json.code === 'invalid_request')
  }
})

t.test(
  'the reference page and all it needs come from here, under a policy that allows nothing else',
  async t => {
    const page = await api.ask(null, '/docs')
    t.match(page.headers.get('content-type'), /^text\/html/)
    const policy = page.headers.get('content-security-policy') ?? ''
    t.match(policy, /default-src 'none'/)
    t.notMatch(policy, /unsafe-eval|https?:|script-src[^;]*unsafe/)
    t.equal(page.headers.get('x-content-type-options'), 'nosniff')
    t.equal(page.headers.get('referrer-policy'), 'no-referrer')
    t.match(page.text, /<title>Nieuws API<\/title>/)
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)]
      .map(match => match[1] ?? '')
      .filter(to => !/^(data:|#)/.test(to) && !to.endsWith('docs/changes'))
    t.ok(files.length >= 4)
    for (const file of files) {
      t.notMatch(file, /^(https?:)?\/\//)
      t.equal((await api.ask(null, `/${file}`)).status, 200, file)
    }
  },
)

t.test('/bot says in five languages who crawls and how to refuse it', async t => {
  const { status, headers, text } = await api.ask(null, '/bot')
  t.equal(status, 200)
  t.match(headers.get('content-type'), /^text\/html/)
  for (const language of ['nl', 'fr', 'de', 'lb', 'en'])
    t.match(text, `<section lang="${language}" id="${language}">`)
  t.equal(
    text.split('User-agent: perscopebot\nDisallow: /').length,
    6,
    'each with the name that robots.txt needs',
  )
  t.match(text, 'bot@perscope.example')
  t.equal((await api.ask('x', '/bot', { method: 'POST' })).status, 401)
})

t.test(
  'what programs ask every site for is open, and so are the changes and the present package',
  async t => {
    const text = async (path: string, type: RegExp) => {
      const { status, headers, text } = await api.ask(null, path)
      t.match([status, headers.get('content-type')], [200, type], path)
      t.equal((await api.ask(null, path, { method: 'POST' })).status, 401, path)
      return text
    }
    const robots = await text('/robots.txt', /^text\/plain/)
    for (const line of ['User-agent: *', 'Allow: /docs', 'Disallow: /'])
      t.ok(robots.split('\n').includes(line), line)
    const models = await text('/llms.txt', /^text\/plain/)
    for (const [, path] of models.matchAll(/\]\((.*?)\)/g))
      t.equal((await api.ask(null, `${path}`)).status, 200, path ?? '')
    t.match(await text('/docs/agents.md', /^text\/markdown/), '/mcp')
    const security = await text('/.well-known/security.txt', /^text\/plain; charset=utf-8$/)
    t.match(security, /^Contact: https:\/\/news\.example\/bot$/m, 'RFC 9116 §2.5.3')
    t.match(security, /^Canonical: https:\/\/news\.example\/\.well-known\/security\.txt$/m)
    const ahead = Date.parse(/^Expires: (.*Z)$/m.exec(security)?.[1] ?? '') - Date.now()
    t.ok(ahead > 100 * 86_400_000 && ahead < 365 * 86_400_000, 'less than a year ahead (§2.5.5)')
    t.match(await text('/favicon.ico', /^image\/svg\+xml/), /<svg/)
    const page = await text('/docs/changes', /^text\/html/)
    const sections = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (.*)$/gm)].map(
      ([, title]) => title,
    )
    t.ok(sections.length >= 3)
    for (const title of sections) t.match(page, `<h2>${title}</h2>`)
    t.match(page, /<li><strong><code>\/v1<\/code> does not break\.<\/strong>/)
    t.notMatch(page, /\*\*|`/)
    const [present, numbered] = await Promise.all(
      ['perscope.tgz', Object.keys(PACKAGES)[0]].map(name => api.ask(null, `/clients/${name}`)),
    )
    t.match([present?.status, present?.text], [200, numbered?.text])
  },
)
