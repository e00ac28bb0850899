/** A search to try. It is tested before it is shown. */
export interface Search {
  about: string
  address: string
  /** True when an answer holds articles. */
  holdsArticles(body: string): boolean
}

/** Words of the sample's news; for a live catalogue, a subject that is in the news every day. */
const WORDS = {
  sample: { keyword: 'nachttrein', language: 'fr', meaning: 'rivers bursting their banks' },
  live: { keyword: '', language: 'nl', meaning: 'what the government decided today' },
}

/**
 * The three searches that show what the API does: by words as JSON, by language as a feed, by
 * meaning.
 */
export function searches(base: string, kind: keyof typeof WORDS): { json: Search; rss: Search; semantic: Search } {
  const { keyword, language, meaning } = WORDS[kind]
  const words = keyword === '' ? '' : `q=${keyword}&search_in=title_body&`
  return {
    json: {
      about: keyword === '' ? 'The newest articles:' : `Articles with the word "${keyword}":`,
      address: `${base}/v1/articles?${words}per_page=5`,
      holdsArticles: inJson,
    },
    rss: {
      about: `The newest articles in one language (${language}), as an RSS feed:`,
      address: `${base}/v1/articles.rss?language=${language}&per_page=5`,
      holdsArticles: body => body.includes('<item>'),
    },
    semantic: {
      about: `Articles about "${meaning}" in any language, by their meaning:`,
      address: `${base}/v1/articles?search=semantic&q=${meaning.replaceAll(' ', '+')}&per_page=5`,
      holdsArticles: inJson,
    },
  }
}

function inJson(body: string): boolean {
  const page: unknown = JSON.parse(body)
  return typeof page === 'object' && page !== null && 'articles' in page && Array.isArray(page.articles)
    ? page.articles.length > 0
    : false
}

/**
 * The shown form of a key: the key itself where only a person sees it, its file where others may
 * keep the output.
 */
export type ShownKey = { kind: 'itself'; key: string } | { kind: 'file'; path: string }

/**
 * The address of the explorer. The key stands in its fragment, which browsers send to no server and
 * the page takes out at once; and only where a person alone sees it.
 */
export const explorerAddress = (base: string, shown: ShownKey): string =>
  shown.kind === 'itself' ? `${base}/#key=${encodeURIComponent(shown.key)}` : `${base}/`

/** The search as one line for a shell. */
export function curl(search: Search, shown: ShownKey): string {
  const bearer =
    shown.kind === 'itself'
      ? quoted(`Authorization: Bearer ${shown.key}`)
      : `"Authorization: Bearer $(cat ${quoted(shown.path)})"`
  return `curl -s -H ${bearer} ${quoted(search.address)}`
}

/** One word of a POSIX shell, also inside `$(…)`. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** True when the search returns articles now. */
export async function answers(search: Search, key: string): Promise<boolean> {
  try {
    const response = await fetch(search.address, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(10_000),
    })
    return response.ok && search.holdsArticles(await response.text())
  } catch {
    return false
  }
}
