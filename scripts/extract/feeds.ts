import { openFeedParser } from '../../services/crawler/feeds/parsing/parser.ts'
import { isAllowed, productToken, readRobots } from '../../services/crawler/fetch/robots.ts'
import { readAddress } from '../../shared/articles/address.ts'
import type { Config } from '../../shared/config/config.ts'
import { bytesOf, optional, type Reader, readerOf, text, texts } from './line.ts'

interface FeedLine {
  url: string
  text?: string | null
  file?: string | null
  contentType?: string | null
}

const readFeedLine = readerOf<FeedLine>({
  type: 'object',
  required: ['url'],
  properties: { url: text, text: optional, file: optional, contentType: optional },
})

/** Reads feeds and sitemaps as the crawler does. */
export function feedReader(config: Config): Reader {
  const parser = openFeedParser({ timeout: config.CRAWL_PARSE_TIMEOUT })
  return {
    async read(written) {
      const line = readFeedLine(written)
      const bytes = await bytesOf(line.text, line.file, config.CRAWL_MAX_BYTES)
      if (bytes === null) throw new Error('neither text nor file is given')
      const contentType = line.contentType ?? null
      const feed = await parser.parse({ bytes, contentType, url: line.url }, 'extract')
      if (feed === null) return { entries: null }
      const entries = feed.named.map(({ entry: { url, title, summary, content, authors, published } }) => {
        return { url, title, summary, content, authors, published }
      })
      return feed.parts.length === 0 ? { entries } : { entries, parts: feed.parts.map(({ url }) => url) }
    },
    close: () => parser.close(),
  }
}

interface RobotsLine {
  agent: string
  urls: string[]
  text?: string | null
  file?: string | null
}

const readRobotsLine = readerOf<RobotsLine>({
  type: 'object',
  required: ['agent', 'urls'],
  properties: { agent: text, urls: texts, text: optional, file: optional },
})

/** Reads robots.txt files as the crawler does; `crawlDelay` in seconds, as the file has it. */
export function robotsReader(config: Config): Reader {
  return {
    async read(written) {
      const line = readRobotsLine(written)
      const bytes = await bytesOf(line.text, line.file, config.CRAWL_MAX_BYTES)
      if (bytes === null) throw new Error('neither text nor file is given')
      const { rules, crawlDelay } = readRobots(bytes.toString('utf8'), productToken(line.agent))
      const allowed = line.urls.map(url => {
        const address = readAddress(url, 'https://host.invalid')
        if (address === null) throw new Error(`no http(s) address: ${url.slice(0, 200)}`)
        return isAllowed(rules, address)
      })
      return { allowed, crawlDelay: crawlDelay === null ? null : crawlDelay / 1_000 }
    },
    async close() {},
  }
}
