import { createRequire } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { readConfig } from '#shared/config/config'
import { tryRows } from '#test/examples'
import { introduction } from './connector.ts'
import TABLE from './robots.json' with { type: 'json' }
import { isAllowed, isOfNews, readRobots, sitemapsOf, statedOf } from './robots.ts'

// The package's types name an export that the package does not have.
const robotsParser: (
  url: string,
  text: string,
) => { isAllowed(url: string, agent: string): boolean | undefined } = createRequire(
  import.meta.url,
)('robots-parser')

const may = (robots: string, path: string, token = 'perscopebot') =>
  isAllowed(readRobots(robots, token).rules, new URL(path, 'https://x.example'))

t.test(
  'RFC 9309 §2.2.1: the groups that name us are combined, else those for everybody',
  async t => {
    const robots = `User-agent: *
Disallow: /all
User-Agent: other
User-agent: PERSCOPEBOT/2.0
Sitemap: https://x.example/s.xml
Disallow: /ours
Crawl-delay: 2.5
User-agent: other
Disallow: /others
User-agent: perscopebot # again
Disallow: /again
User-agent: PerscopeBot
User-agent: last
Disallow: /last`
    const ours = ['/all', '/ours', '/again', '/others', '/last'].map(path => may(robots, path))
    t.same(ours, [true, false, false, true, false])
    const foreign = ['/all', '/ours'].map(path => may(robots, path, 'someone'))
    t.same(foreign, [false, true])
    t.equal(readRobots(robots, 'perscopebot').crawlDelay, 2_500)
    t.equal(readRobots(robots, 'someone').crawlDelay, null)
  },
)

t.test('RFC 9309 §2.2.4: only a rule ends the names of a group', async t => {
  const between = (record: string) =>
    `User-agent: *\n${record}\nUser-agent: GPTBot\nDisallow: /prive`
  for (const record of [
    'Crawl-delay: 10',
    'Sitemap: https://x.example/s.xml',
    'Host: x.example',
    'Clean-param: a',
    '# note',
    '',
    'Request-rate: 1/10',
    'Content-Signal: search=yes',
    'License: https://x.example/l.xml',
    'nonsense',
    'Crawl-delay:',
  ])
    t.equal(may(between(record), '/prive'), false, record)
  t.equal(may(between('Disallow:'), '/prive'), true, 'an empty rule is a rule')
  t.equal(
    may(between('Content-Usage: / train-ai=n'), '/prive'),
    true,
    'draft-ietf-aipref-attach makes it a rule',
  )
  t.equal(readRobots(between('Crawl-delay: 10'), 'perscopebot').crawlDelay, 10_000)
  t.equal(
    readRobots(between('Crawl-delay: 10'), 'gptbot').crawlDelay,
    null,
    'a delay holds for the names above it',
  )
})

t.test(
  'of what a file states of uses, our group and the longest path count, and every licence',
  async t => {
    const file = [
      'License: https://x.example/l.xml',
      'License: not an address',
      'Sitemap: https://x.example/s.xml',
      'User-agent: *',
      'Content-Signal: search=no',
      'Disallow: /x',
      'User-agent: PerscopeBot',
      'Content-Usage: train-ai=n \0\u00e9 # note',
      'content-usage : /ai/ search=n',
      'Content-Usage: /ai/ ai-use=n',
      'Content-Usage: /*.pdf$ search=n',
      'Allow: /',
    ].join('\n')
    const said = (path: string, token = 'perscopebot') =>
      statedOf(readRobots(file, token).stated, new URL(path, 'https://x.example'))
    const licence = 'https://x.example/l.xml'
    t.same(said('/a'), [licence, 'train-ai=n'])
    t.same(said('/ai/1'), [licence, 'search=n', 'ai-use=n'])
    t.same(said('/a.pdf'), [licence, 'search=n'])
    t.same(said('/a', 'someone'), [licence, 'search=no'])
    const both = 'User-agent: *\nContent-Signal: search=no\nContent-Usage: /ai/ train-ai=n'
    const ofBoth = statedOf(readRobots(both, 'x').stated, new URL('https://x.example/ai/1'))
    t.same(
      ofBoth,
      ['search=no', 'train-ai=n'],
      'a longer path of the one field says nothing of the other',
    )
    t.equal(
      readRobots('User-agent: *\nContent-Signal: search=no\n'.repeat(5_000), 'x').stated.length,
      100,
    )
    const lengths = (line: string) =>
      readRobots(`user-agent: *\n${line}`, 'x').stated.map(({ text }) => text.length)
    t.same(lengths(`Content-Usage: ${'x'.repeat(600)}`), [500])
    t.same(
      [500, 501].map(length => lengths(`License: ${'https://x.example/'.padEnd(length, 'x')}`)),
      [[500], []],
    )
  },
)

t.test('a robots.txt names sitemaps, by whole addresses or by paths', async t => {
  const long = (length: number) => `sitemap: ${'https://x.example/'.padEnd(length, 'x')}`
  const found = sitemapsOf(
    ` Sitemap : https://x.example/news.xml\nsitemap: /s.xml\nsitemap: http://`,
    'https://y.example',
  )
  t.same(found.map(String), ['https://x.example/news.xml', 'https://y.example/s.xml'])
  t.same(found.map(isOfNews), [true, false])
  t.equal(sitemapsOf(`${long(2_048)}\n${long(2_049)}\nsitemap: /s.xml`).length, 1)
})

t.test(
  'an agent that is named with anything after it is meant, and so are several in a line',
  async t => {
    const names = (written: string, token?: string) =>
      !may(`User-agent: ${written}\nDisallow: /`, '/a', token)
    for (const written of [
      'PerscopeBot',
      'perscopebot/2.0',
      'PerscopeBot*',
      'PerscopeBot;',
      'PerscopeBot:',
      '"PerscopeBot"',
      'PerscopeBot, GPTBot',
      'GPTBot, PerscopeBot',
      'GPTBot;PerscopeBot',
      'GPTBot PerscopeBot/1.0',
      'Perscope*',
      'GPTBot|PerscopeBot',
      'PerscopeBot (news)',
      'Mozilla/5.0 (compatible; PerscopeBot/1.0)',
      'PerscopeBot2',
      '*',
      '* # all',
      'GPTBot, *',
    ])
      t.equal(names(written), true, written)
    for (const written of [
      'PerscopeBot-News',
      'PerscopeBotNews',
      'NoPerscopeBot',
      'Perscope',
      'Pe*',
      'Google*',
      'GPTBot',
      '',
    ])
      t.equal(names(written), false, written)
    t.equal(names('news4u', 'news4u'), true, 'a name of ours with a digit')
    t.equal(
      may('User-agent: *\nDisallow: /\nUser-agent: PerscopeBot; news\nDisallow: /b', '/a'),
      true,
      'our own group',
    )
  },
)

interface Row {
  robots: string
  path: string
  agent?: string | undefined
  may: boolean
  why?: string | undefined
}

tryRows<Row>(t, TABLE, {}, (t, { robots, path, agent, may: wanted }, about) =>
  t.equal(may(robots, path, agent), wanted, about),
)

t.test('what is no rule is no rule', async t => {
  t.equal(may('<!doctype html><title>Not found</title>', '/a'), true)
  t.equal(may('\ufeffUser-agent:*\rDisallow:/a\r', '/a'), false)
  t.equal(
    may('user-agent: *\ndisallow: https://x.example/a', '/a/1'),
    false,
    'an address for its path',
  )
  t.equal(may('user-agent: *\ndisallow:', '/a'), true)
  t.equal(may('disallow: /', '/a'), true)
  t.equal(may('user-agent: *\ndisallow: *.pdf', '/a.pdf'), false)
  const beyond = `user-agent: *\n${'#'.repeat(512_000)}\ndisallow: /`
  t.equal(may(beyond, '/a'), true, 'more than RFC 9309 asks us to read')
  const delays = ['0', '1e9', 'soon', '-5', '1,5', '10s', '500ms', '"10"'].map(text =>
    readRobots(`user-agent: *\ncrawl-delay: ${text}`, 'x'),
  )
  t.same(
    delays.map(({ crawlDelay }) => crawlDelay),
    [0, 86_400_000, null, null, 1_500, 10_000, 500, 10_000],
  )
})

/** Repeats this line in one group, up to half a megabyte. */
const full = (line: string) =>
  `user-agent: *\n${line.repeat(Math.floor(510_000 / Buffer.byteLength(line)))}`
const hostile: Record<string, string> = {
  'many pieces': full(`disallow: /${'*a'.repeat(500)}b\n`),
  'long pieces': full(`disallow: /*${'a'.repeat(1_000)}b\n`),
  'short pieces': full('disallow: /*aaaaaaaaaaaab\n'),
  'the shortest rules': full('allow:/*b\n'),
  'one pattern of half a megabyte': `user-agent: *\ndisallow: /${'*'.repeat(500_000)}b`,
  'characters that are escaped': full('allow: /\u{1f600}\u{1f600}\u{1f600}\n'),
  'one group that names us again and again': `${'user-agent: *\n'.repeat(15_000)}${'allow:/\n'.repeat(37_000)}`,
}
for (const [name, robots] of Object.entries(hostile)) {
  t.test(
    `half a megabyte of ${name}: read in a moment, and no page takes longer than one`,
    async t => {
      // Processor time, because other programs may use the machine.
      const start = process.cpuUsage()
      const { rules } = readRobots(robots, 'x')
      t.ok(rules.length < 70_000)
      const read = process.cpuUsage(start)
      t.ok(read.user + read.system < 1_000_000, `${(read.user + read.system) / 1_000} ms to read`)
      const url = new URL(`https://x.example/${'a'.repeat(2_000)}`)
      const before = process.cpuUsage()
      for (let page = 0; page < 5; page += 1) isAllowed(rules, url)
      const { user, system } = process.cpuUsage(before)
      t.ok((user + system) / 5 < 100_000, `${(user + system) / 5_000} ms a page`)
    },
  )
}

t.test('where rules need more work than one page is worth, it is not fetched', async t => {
  for (const name of ['short pieces', 'the shortest rules'])
    t.equal(may(hostile[name] ?? '', `/${'a'.repeat(2_000)}`), false, name)
  t.equal(
    may(hostile['short pieces'] ?? '', '/artikel/2026/11/21/brug-open'),
    true,
    'an ordinary address is no such page',
  )
})

t.test('a pattern longer than any address matches by its wildcards only', async t => {
  t.equal(may(`user-agent: *\ndisallow: /${'*'.repeat(3_000)}prive`, '/a/prive'), false)
  t.equal(may(`user-agent: *\nallow: /a\ndisallow: /${'a'.repeat(3_000)}`, '/a'), true)
})

t.test('our verdicts are those of robots-parser', async () => {
  const part = fc.stringMatching(/^[ab*$/?%]{0,6}$/)
  const line = fc
    .tuple(fc.constantFrom('allow', 'disallow'), part)
    .map(([field, path]) => `${field}: /${path}`)
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 6 }),
      fc.stringMatching(/^[ab$/?]{0,8}$/),
      (lines, path) => {
        const robots = `user-agent: *\n${lines.join('\n')}`
        // The other parser removes a question mark at the end of an address.
        const url = `https://x.example/${path.replace(/\?+$/, '')}`
        return (
          may(robots, url) ===
          (robotsParser('https://x.example/robots.txt', robots).isAllowed(url, 'x') ?? true)
        )
      },
    ),
    { numRuns: 3_000 },
  )
})

t.test('the crawler says who it is, and whom to write to where that is configured', async t => {
  const CRAWL_USER_AGENT = 'NewsBot/2 (+https://news.example/bot)'
  t.same(introduction(readConfig({ CRAWL_USER_AGENT })), { 'user-agent': CRAWL_USER_AGENT })
  t.equal(introduction(readConfig({ CRAWL_FROM: 'bot@news.example' })).from, 'bot@news.example')
})
