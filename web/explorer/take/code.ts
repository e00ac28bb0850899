import manifest from '#clients/typescript/package.json' with { type: 'json' }
import { operationOf, type Search, writeSearch } from '#web/explorer/search/search'

export const CODE_LANGUAGES = ['curl', 'TypeScript', 'Python', 'MCP'] as const
export type CodeLanguage = (typeof CODE_LANGUAGES)[number]

/**
 * The search as a command or a program. The programs use the client packages of the same server.
 * Readers may share them, because they read the key from the environment.
 *
 * @param origin of the API, without a slash at the end
 */
export function codeOf(search: Search, origin: string, language: CodeLanguage): string {
  const query = writeSearch(search)
  switch (language) {
    case 'curl':
      return CURL(
        shellWord(`${origin}${operationOf(search)}${query.size === 0 ? '' : `?${query}`}`),
      )
    case 'TypeScript':
      return TYPESCRIPT(origin, argumentsOf(query, ': ', String))
    case 'Python':
      return PYTHON(origin, argumentsOf(query, '=', PYTHON_FLAG))
    case 'MCP':
      return MCP(origin, JSON.stringify(Object.fromEntries(query)))
  }
}

const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * The parameters in the form of both packages. A string of JSON is also a string of both languages.
 */
function argumentsOf(query: URLSearchParams, is: string, flag: (value: boolean) => string): string {
  const written = [...query].map(([name, value]) => {
    const isList = name === 'country' || name === 'language'
    const text =
      name === 'has_author'
        ? flag(value === 'true')
        : JSON.stringify(isList ? value.split(',') : value)
    return `${name}${is}${text}`
  })
  return [...written, `per_page${is}100`].join(', ')
}

const PYTHON_FLAG = (value: boolean) => (value ? 'True' : 'False')

const CURL = (address: string) => `curl -s -H "Authorization: Bearer $PERSCOPE_KEY" \\
  ${address}`

const PACKAGE = `clients/perscope-${manifest.version}`

const TYPESCRIPT = (origin: string, query: string) => `// npm install ${origin}/${PACKAGE}.tgz
// Node 22.18 or later: PERSCOPE_KEY=… node search.mts
import { createClient } from 'perscope'

const client = createClient({ url: ${JSON.stringify(origin)}, key: process.env.PERSCOPE_KEY! })
for await (const article of client.articles({ ${query} })) {
  console.log(article.published_at, article.title)
}
`

const PYTHON = (
  origin: string,
  query: string,
) => `# pip install ${origin}/${PACKAGE}-py3-none-any.whl
# PERSCOPE_KEY=… python3 search.py
import os
from perscope import Client

with Client(${JSON.stringify(origin)}, os.environ["PERSCOPE_KEY"]) as client:
    for article in client.articles(${query}):
        print(article["published_at"], article["title"])
`

const MCP = (
  origin: string,
  query: string,
) => `# Claude Code; other clients: ${origin}/docs/agents.md
claude mcp add --transport http perscope ${origin}/mcp \\
  --header "Authorization: Bearer $PERSCOPE_KEY"
# This search, as the arguments of the tool search_news:
# ${query}
`
