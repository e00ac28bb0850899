import t from 'tap'
import { ask, sent, startTestApi } from '#test/contract/api'
import { run } from '#test/script'
import { NEW_SEARCH } from '#web/explorer/search/search'
import { codeOf } from '#web/explorer/take/code'

const api = await startTestApi(t)
const { secret } = await api.issue()
const TITLE = `Het "huis" van d'Arc & zoon`
await api.index(Array.from({ length: 130 }, (_, index) => ({ title: `${TITLE} ${index}` })))

const search = {
  ...NEW_SEARCH,
  q: `"d'arc & zoon" huis`,
  mode: 'boolean' as const,
  outlet: 'De Dagkoerier',
}

t.test('the search as curl runs as it is copied', async t => {
  const env = { PATH: process.env.PATH, PERSCOPE_KEY: secret }
  const { stdout } = await run('sh', ['-c', codeOf(search, api.base, 'curl')], { env })
  const page = JSON.parse(stdout)
  t.equal(page.total_results, 130)
  t.equal(page.articles.length, 25)
})

t.test('programs in TypeScript and Python name the package, and have no key', async t => {
  for (const language of ['TypeScript', 'Python'] as const) {
    const code = codeOf(search, api.base, language)
    t.match(code, /env(?:iron\["|\.)PERSCOPE_KEY/, 'it comes from the environment')
    if (language === 'TypeScript') t.match(code, /^\/\/ Node 22\.18 or later: /m)
    const [, address = ''] = /install (\S+)$/m.exec(code) ?? []
    const { status, headers } = await ask(address, null)
    t.equal(status, 200, address)
    t.notOk(headers.has('x-ratelimit-limit'), 'it costs nothing')
  }
})

t.test('an agent is told the same search, as arguments of a tool', async t => {
  const code = codeOf(search, api.base, 'MCP')
  t.match(code, `claude mcp add --transport http perscope ${api.base}/mcp `)
  const args = JSON.parse(/^# (\{.*\})$/m.exec(code)?.[1] ?? '')
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search_news', arguments: args },
  }
  const { json } = await ask(`${api.base}/mcp`, secret, sent('POST', call))
  t.equal(json.result.structuredContent.total_results, 130)
})
