import type { Config } from '#shared/config/config'
import { type BackFillFigures, readBackFills } from '#shared/outlets/back-fills'
import { type DaySum, dayAgo, readDays } from '#shared/outlets/days'
import { BOT_PATH, productToken } from '#shared/outlets/rights'
import type { Queryable } from '#shared/postgres/pool'
import { bytes, number, plural, span } from '#status/words'

/** Days that a report covers. */
const DAYS = 30

/** The data about the crawl of an outlet that may interest its publisher. */
interface Report {
  outlet: ReportedOutlet
  crawler: { userAgent: string; from: string; token: string; about: string | null }
  limits: {
    pauseMs: number
    pagesADay: number
    tdm: Config['RIGHTS_TDM']
    bytesADay: number
    shortestPollMs: number
  }
  feeds: Feed[]
  hosts: Host[]
  rights: Signal[]
  days: DaySum[]
  /** The sum of the days; null: nothing was crawled. */
  sum: DaySum | null
  /** The reading of what the outlet had before; null: nobody has begun it. */
  past: BackFillFigures | null
}

interface ReportedOutlet {
  outletNo: number
  name: string
  domain: string
  licence: string | null
}

/** What a signal has reserved, and for how many pages. */
interface Signal {
  signal: string
  source: string
  pages: number
}

interface Feed {
  url: string
  kind: string
  everyMs: number
  lastRead: Date | null
  error: string | null
}

interface Host {
  host: string
  crawlDelayMs: number | null
  /**
   * Paths that the host's robots.txt forbids to us; null: the crawler has not read it in the last
   * day.
   */
  forbidden: string[] | null
  /**
   * Whether the host's robots.txt does not answer. The crawler then requests nothing from the host.
   */
  unreachable: boolean
}

/** @returns null: no such outlet */
export async function readReport(
  db: Queryable,
  domain: string,
  config: Config,
): Promise<Report | null> {
  const { rows } = await db.query<ReportedOutlet>(
    'select outlet_no as "outletNo", name, domain, licence from outlets where domain = $1',
    [domain],
  )
  const [outlet] = rows
  if (outlet === undefined) return null
  const wanted = { outlets: [outlet.outletNo], from: dayAgo(DAYS - 1), to: dayAgo(0) }
  const { CRAWL_USER_AGENT: userAgent, PUBLIC_URL } = config
  return {
    outlet,
    crawler: {
      userAgent,
      from: config.CRAWL_FROM,
      token: productToken(userAgent),
      about: PUBLIC_URL === '' ? null : new URL(BOT_PATH, PUBLIC_URL).href,
    },
    limits: {
      pauseMs: config.CRAWL_HOST_DELAY,
      pagesADay: config.CRAWL_OUTLET_PAGES,
      tdm: config.RIGHTS_TDM,
      bytesADay: config.CRAWL_OUTLET_BYTES,
      shortestPollMs: config.POLL_INTERVAL_MIN,
    },
    feeds: (await db.query<Feed>(FEEDS, [outlet.outletNo])).rows,
    hosts: (await db.query<Host>(HOSTS, [outlet.outletNo])).rows,
    rights: (await db.query<Signal>(RIGHTS, [outlet.outletNo])).rows,
    days: await readDays(db, { by: 'day', ...wanted }),
    sum: (await readDays(db, { by: 'outlet', ...wanted }))[0] ?? null,
    past: (await readBackFills(db)).find(one => one.domain === domain) ?? null,
  }
}

const FEEDS = `
  select url, kind, poll_interval as "everyMs", last_success_at as "lastRead", last_error as error
    from feeds where outlet_no = $1 and active order by kind, url`

// The hosts of an outlet's feeds, and its own hosts. A rule that forbids begins with `-`.
const HOSTS = `
  select host, crawl_delay as "crawlDelayMs", robots_blocked as unreachable,
         case when robots is not null
              then array(select substr(rule, 2) from string_to_table(robots, e'\\n') as rule where rule like '-%') end as forbidden
    from hosts h, outlets o
   where o.outlet_no = $1
     and (exists (select from unnest(o.domain || o.hosts) as own
                   where host = own or right(host, length(own) + 1) = '.' || own)
          or host in (select host from feeds where outlet_no = $1 and active))
   order by host`

const RIGHTS = `
  select signal, source, pages, first_at as "firstAt", last_at as "lastAt"
    from outlet_rights where outlet_no = $1 order by signal, source`

/** The most paths of a robots.txt that are shown. */
const PATHS = 5

/** The report as Markdown, for a publisher: in plain words, without names of our tables. */
export function reportPage({
  outlet,
  crawler,
  limits,
  feeds,
  hosts,
  rights,
  days,
  sum,
  past,
}: Report): string {
  const pause = span(limits.pauseMs / 1_000)
  return [
    `# How ${crawler.token} reads ${outlet.name}`,
    `${outlet.domain}, from ${dayAgo(DAYS - 1)} to ${dayAgo(0)} (days of UTC).`,
    '## Who asks',
    list([
      `User-Agent: \`${crawler.userAgent}\``,
      crawler.from === '' ? '' : `From: \`${crawler.from}\``,
      crawler.about === null ? '' : `What it does, and how to refuse or bound it: ${crawler.about}`,
    ]),
    '## What was asked, and how often',
    `One request to a host at a time, then a pause of at least ${pause} or your Crawl-delay; at most ` +
      `${plural(limits.pagesADay, 'page')} and ${bytes(limits.bytesADay)} of them a day. A feed is asked at most once in ` +
      `${span(limits.shortestPollMs / 1_000)}, with \`If-None-Match\` or \`If-Modified-Since\`. Retry-After is obeyed.`,
    list(feeds.map(feedLine)),
    table(
      ['day', 'requests', 'unchanged (304)', 'failed', 'sent to us', 'reads of feeds'],
      [
        ...days.map(day => askedRow(day.day ?? '', day)),
        ...(sum === null ? [] : [askedRow('all', sum)]),
      ],
    ),
    '## What was obeyed',
    list([
      ...hosts.map(hostLine),
      ...rights.map(
        ({ signal, source, pages }) => `${signal} (${source}): on ${plural(pages, 'page')}`,
      ),
      rights.length === 0 ? 'Rights in headers, meta tags and tdmrep.json: none was stated' : '',
      `Text and data mining where it is reserved: ${outlet.licence === null ? TDM[limits.tdm] : 'by your licence'}`,
      'No paywall, login or block is passed: such a page is known by its feed alone',
    ]),
    '## What became of your articles',
    sum === null ? 'Nothing is known yet.' : list(articleLines(sum)),
    past === null ? '' : pastLine(past),
    '## How to refuse',
    `In robots.txt, and nothing is asked any more within a day:\n\n\`\`\`\nUser-agent: ${crawler.token}\nDisallow: /\n\`\`\``,
    crawler.about === null
      ? ''
      : `Everything else that is obeyed, and our contact: ${crawler.about}`,
  ]
    .filter(part => part !== '')
    .join('\n\n')
}

const TDM: Record<string, string> = {
  refuse: 'no article is made',
  'index-only': 'the article is found by words alone, nothing is mined',
  ignore: 'not obeyed here',
}

const list = (lines: string[]) =>
  lines
    .filter(line => line !== '')
    .map(line => `- ${line}`)
    .join('\n')

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [
    line(head),
    line(head.map((_, at) => (at === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n')
}

const feedLine = ({ url, kind, everyMs, lastRead, error }: Feed) =>
  `${kind} ${url}: ${lastRead === null ? 'never read' : `now every ${span(everyMs / 1_000)}`}${error === null ? '' : ` (${error})`}`

const askedRow = (name: string, { requests, unchanged, errors, bytes: sent, polls }: DaySum) => [
  name,
  ...[requests, unchanged, errors].map(number),
  bytes(sent),
  number(polls),
]

function hostLine({ host, crawlDelayMs, forbidden, unreachable }: Host): string {
  const delay = crawlDelayMs === null ? '' : `, Crawl-delay ${span(crawlDelayMs / 1_000)}`
  if (unreachable) return `${host}: its robots.txt does not answer, so nothing is asked${delay}`
  if (forbidden === null) return `${host}: its robots.txt was not read in the last day${delay}`
  if (forbidden.length === 0) return `${host}: its robots.txt forbids us nothing${delay}`
  const more =
    forbidden.length > PATHS ? ` and ${plural(forbidden.length - PATHS, 'more path')}` : ''
  const paths = forbidden.slice(0, PATHS).map(path => `\`${path}\``)
  return `${host}: its robots.txt forbids us ${paths.join(', ')}${more}${delay}`
}

const pastLine = ({ from, to, state, named, fetched, refused, lost, waiting }: BackFillFigures) =>
  `Your older pages, from ${from} to ${to}, ${PAST[state]}, at a fifth of the pace: of ` +
  `${plural(named, 'address', 'addresses')} in your sitemaps, ${number(fetched)} were fetched, ${number(refused)} refused ` +
  `by rules, ${number(lost)} could not be read, and ${plural(waiting, 'waits', 'wait')}.`

const PAST: Record<BackFillFigures['state'], string> = {
  running: 'are read too',
  stopped: 'were read too, until we stopped',
  done: 'were read too',
}

const articleLines = ({ named, indexed, alone, refused, lost, waiting }: DaySum) => [
  `${plural(named, 'address', 'addresses')} that your feeds or sitemaps named`,
  `${number(indexed)} with an article in the index, of these ${number(alone)} by the feed alone`,
  ...Object.entries(refused).map(([reason, n]) => `${number(n)} not indexed: ${reason}`),
  lost === 0 ? '' : `${number(lost)} could not be read`,
  waiting === 0 ? '' : `${number(waiting)} still to be read`,
]
