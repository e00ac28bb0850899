import { type Search, writeSearch } from '../search/search.ts'

export const CODE_LANGUAGES = ['curl', 'TypeScript', 'Python'] as const
export type CodeLanguage = (typeof CODE_LANGUAGES)[number]

/**
 * The search as a program that runs as it stands. The key comes from the environment: what is
 * copied can be shared.
 *
 * @param origin of the API, without a slash at the end
 */
export function codeOf(search: Search, origin: string, language: CodeLanguage): string {
  const parameters = writeSearch(search)
  if (language !== 'curl') parameters.set('per_page', '100')
  const query = String(parameters)
  const address = `${origin}/v1/articles${query === '' ? '' : `?${query}`}`
  switch (language) {
    case 'curl':
      return CURL(shellWord(address))
    case 'TypeScript':
      return TYPESCRIPT(JSON.stringify(address))
    case 'Python':
      return PYTHON(JSON.stringify(address))
  }
}

const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const CURL = (address: string) => `curl -s -H "Authorization: Bearer $PERSCOPE_KEY" \\
  ${address}`

const TYPESCRIPT = (address: string) => `// PERSCOPE_KEY=… node search.ts
const address = new URL(${address})
const headers = { Authorization: \`Bearer \${process.env.PERSCOPE_KEY}\` }

for (let cursor: string | null = ''; cursor !== null; ) {
  if (cursor !== '') address.searchParams.set('cursor', cursor)
  const response = await fetch(address, { headers })
  const seconds = Number(response.headers.get('Retry-After'))
  if (response.status === 429 && seconds <= 60) {
    await new Promise(done => setTimeout(done, seconds * 1000))
    continue
  }
  if (!response.ok) throw new Error(await response.text())
  const page = await response.json()
  for (const article of page.articles) console.log(article.published_at, article.title)
  cursor = page.next_cursor
}
`

const PYTHON = (address: string) => `# PERSCOPE_KEY=… python3 search.py
import json, os, time, urllib.error, urllib.request

address = ${address}
headers = {"Authorization": "Bearer " + os.environ["PERSCOPE_KEY"]}
cursor = ""

while cursor is not None:
    page_address = address + ("&cursor=" + cursor if cursor else "")
    try:
        with urllib.request.urlopen(urllib.request.Request(page_address, headers=headers)) as response:
            page = json.load(response)
    except urllib.error.HTTPError as error:
        seconds = int(error.headers["Retry-After"] or 0)
        if error.code != 429 or seconds > 60:
            raise SystemExit(error.read().decode())
        time.sleep(seconds)
        continue
    for article in page["articles"]:
        print(article["published_at"], article["title"])
    cursor = page["next_cursor"]
`
