import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t from 'tap'
import { run } from '#test/script'
import { startTestApi } from './api.ts'
import { installPython } from './python.ts'

const ARTICLES = 1_000
const api = await startTestApi(t)
await api.index(
  Array.from({ length: ARTICLES }, (_, i) => ({
    title: `Brug ${i} “geciteerd” \u202E`,
    body: i % 3 === 0 ? null : `De brug nummer ${i} is open. `.repeat(20),
    language: (['nl', 'fr', 'de', 'lb', 'en'] as const)[i % 5]!,
    url: `https://dagkoerier.example/é/${i}?a[]=|`,
  })),
)
const { secret } = await api.issue()
const { json } = await api.ask(secret, '/v1/articles?per_page=100')
const url = new URL('/mcp', api.base)
const headers = { Authorization: `Bearer ${secret}` }

t.test(
  "the SDK's own client walks 1,000 articles, and finds every answer within its schema",
  async t => {
    const client = new Client({ name: 'walk', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
    const { tools } = await client.listTools()
    t.equal(tools.length, 6)
    const ids = new Set<string>()
    let cursor: string | null = null
    do {
      const args: Record<string, unknown> = {
        per_page: 100,
        ...(cursor === null ? {} : { cursor }),
      }
      const answer = await client.callTool({ name: 'search_news', arguments: args })
      const page = answer.structuredContent as typeof json
      if (cursor === null) t.strictSame(page.articles, json.articles)
      for (const { id } of page.articles) ids.add(id)
      cursor = page.next_cursor
    } while (cursor !== null)
    t.equal(ids.size, ARTICLES)
    const others = { count_news: { by: 'day' }, list_copies: {}, completeness: {}, limits: {} }
    for (const [name, args] of Object.entries(others))
      t.notOk((await client.callTool({ name, arguments: args })).isError, name)
    t.ok((await client.callTool({ name: 'search_news', arguments: { per_page: 0 } })).isError)
    await client.close()
  },
)

const WALK = `
import asyncio, json, sys, httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

async def walk(url, key):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        async with streamable_http_client(url, http_client=http) as streams, ClientSession(*streams) as session:
            await session.initialize()
            ids, cursor, names = set(), {}, [tool.name for tool in (await session.list_tools()).tools]
            while cursor is not None:
                page = (await session.call_tool("search_news", {"per_page": 100, **cursor})).structured_content
                ids |= {article["id"] for article in page["articles"]}
                cursor = page["next_cursor"] and {"cursor": page["next_cursor"]}
            wrong = await session.call_tool("search_news", {"per_page": 0})
            print(json.dumps({"tools": len(names), "ids": len(ids), "wrong": wrong.is_error}))

asyncio.run(walk(*sys.argv[1:]))
`
const python = await installPython('mcp==2.3.0')

t.test(
  'the Python SDK walks 1,000 articles',
  { skip: typeof python === 'string' ? python : false },
  async t => {
    if (typeof python === 'string') return
    t.teardown(python.remove)
    const program = join(python.folder, 'walk.py')
    await writeFile(program, WALK)
    const { stdout } = await run(python.program('python'), [program, url.href, secret])
    t.same(JSON.parse(stdout), { tools: 6, ids: ARTICLES, wrong: true })
  },
)
