import t from 'tap'
import { feedLinks, sitemapLines } from './find.ts'

const BASE = 'https://krant.example/nl/'

t.test('the feeds that a page links to, without those of comments and other alternates', async t => {
  const html = `<link rel="alternate" type="application/rss+xml" href="/feed"><LINK REL='Alternate' TYPE='application/atom+xml' HREF='atom'>
    <link rel="alternate" hreflang="fr" href="/fr"><link rel="alternate" type="application/rss+xml" href="/comments/feed/">
    <link rel="stylesheet" type="application/rss+xml" href="/no"><link rel="alternate" type="application/feed+json" href="https://x.example/f.json">
    <link rel="alternate" type="application/rss+xml" href="javascript:alert(1)"><link rel="alternate" type="application/rss+xml" href="/feed">`
  t.strictSame(feedLinks(html, BASE), [
    'https://krant.example/feed',
    'https://krant.example/nl/atom',
    'https://x.example/f.json',
  ])
  const many = Array.from({ length: 500 }, (_, at) => `<link rel=alternate type=application/rss+xml href=/${at}>`)
  t.equal(feedLinks(many.join(''), BASE).length, 6)
})

t.test('the sitemaps of a robots.txt, those of news first', async t => {
  const robots = `User-agent: *\nDisallow: /x\nSitemap: https://krant.example/all.xml\r\nsitemap :/news.xml\n# Sitemap: /no.xml\nSitemap: ftp://krant.example/x`
  t.strictSame(sitemapLines(robots, new URL(BASE)), ['https://krant.example/news.xml', 'https://krant.example/all.xml'])
  t.strictSame(sitemapLines('', new URL(BASE)), [])
})
