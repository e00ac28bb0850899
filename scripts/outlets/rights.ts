import { columns } from '#scripts/terminal/terminal'
import { allDomains } from '#search/removals'
import { HELD, introducesItself } from '#services/crawler/fetch/connector'
import { recallStated, statedOf } from '#services/crawler/fetch/robots'
import { ruleFor, type TdmRule } from '#services/crawler/fetch/tdm'
import { composerOptions, openComposer } from '#services/normaliser/composer'
import type { Bound } from '#shared/articles/bounds'
import { counted, printableLine } from '#shared/log/printable'
import {
  type Rights,
  type RightsRules,
  readRights,
  rightsOf,
  rightsRules,
  SHOWN_FOR,
  type Signal,
  signalInWords,
  withFiles,
} from '#shared/outlets/rights'
import {
  readStops,
  type Stop,
  type Stopped,
  stopsInWords,
  TDM_VALUES,
} from '#shared/outlets/stopped-pages'
import { type Pool, type Queryable, readRow } from '#shared/postgres/pool'
import { type CommandContext, UsageError } from '#shared/process/command'
import { dropPrivileges } from '#shared/process/privileges'
import { boundOf, createWriter, type Write } from '#shared/removals/bounding'
import { finishRemovals } from '#shared/removals/list'
import { LOOKS_A_DAY, type Looks, lookAgain } from './second-looks.ts'

/*
 * New articles follow the rights that their outlet states. This file helps operators: it shows what
 * each setting would stop, and bounds old articles by the present rights.
 */

/** Says what each value of RIGHTS_TDM stops. */
export async function showStops(
  { config, options, print, say }: CommandContext,
  pool: Pool,
): Promise<void> {
  const stops = await readStops(pool)
  const now = config.RIGHTS_TDM
  if (options.json) {
    for (const { stops: by, ...stop } of stops) print(JSON.stringify({ ...stop, now, ...by }))
  } else if (stops.length > 0) {
    const head = TDM_VALUES.map(value => (value === now ? `${value} (now)` : value))
    print(columns([['outlet', 'signal', ...head, 'licence'], ...stops.map(rowOf)]))
  }
  say(stopsInWords(stops, config) ?? `RIGHTS_TDM=${now} stops no article.`)
}

const rowOf = ({ domain, signal, stops, licence }: Stop) =>
  [domain, signal, ...TDM_VALUES.map(value => cellOf(stops[value]!)), licence ?? ''].map(
    printableLine,
  )

function cellOf({ refused, wordsAlone }: Stopped): string {
  const words = [
    refused > 0 ? `${refused} not indexed` : '',
    wordsAlone > 0 ? `${wordsAlone} without vector` : '',
  ]
  return words.filter(Boolean).join(', ') || '–'
}

/**
 * Articles that are bounded at a time. After each part, searches read their newest articles again.
 */
const PART = 1_000

/**
 * Bounds old articles of an outlet by the present signals: those of its files for the address,
 * those of the article's own page, and those that most pages of the last week had. A signal that
 * stops new articles leaves old articles their title and text (decision 24), but neither snippet
 * nor vector. Parts with `data-nosnippet` are unknown for old pages. Then some of its pages are
 * asked for again.
 *
 * @returns the exit code: 1 when something is left of articles that were taken out
 */
export async function applyRights(
  context: CommandContext,
  pool: Pool,
  domain: string,
): Promise<number> {
  const { config, options, print, say, signal } = context
  const { rows } = await pool.query<KnownOutlet>(
    'select outlet_no, domain, licence from outlets where domain = $1',
    [domain],
  )
  const [outlet] = rows
  if (outlet === undefined)
    throw new UsageError(`No outlet has the domain ${domain}; list shows those that are known.`)
  const dryRun = !options.apply || options['dry-run'] === true
  const usual = await usualSignals(pool, outlet.outlet_no)
  const { judge, unread } = createJudge(pool, rightsRules(config), outlet, usual)
  const write = dryRun ? null : await createWriter(pool, config)
  const counts = { articles: 0, snippets: 0, vectors: 0 }
  for (let after: bigint | undefined = 0n; after !== undefined && !signal.aborted; ) {
    const part = await nextArticles(pool, domain, after)
    after = part.at(-1)?.seq
    const bounds: Bound[] = []
    for (const article of part) bounds.push(boundOf(article, await judge(article)))
    await write?.(bounds.filter(({ isBounded, hasVector }) => isBounded || !hasVector))
    counts.articles += part.length
    counts.snippets += part.filter(({ snippet }, at) => snippet !== bounds[at]!.snippet).length
    counts.vectors += part.filter(({ promised }, at) => promised && !bounds[at]!.hasVector).length
  }
  const looks = write === null ? null : await look(context, pool, outlet, write)
  const done = !dryRun && !signal.aborted
  const setting = config.RIGHTS_TDM
  if (options.json)
    print(JSON.stringify({ domain, tdm: setting, ...counts, usual, unread: unread(), looks, done }))
  const signals = usual.map(signalInWords).join(', ') || 'nothing'
  say(
    printableLine(
      `Most pages of the last ${SHOWN_FOR} state ${signals}; the last files of its hosts count, too. RIGHTS_TDM is ${setting}.`,
    ),
  )
  if (unread().length > 0)
    say(
      `No file is known of ${unread().slice(0, 5).join(', ')}: they were not asked of late, and may state more.`,
    )
  const blanked = counted(counts.snippets, 'snippet')
  const removed = counted(counts.vectors, 'vector')
  const articles = counted(counts.articles, 'article')
  if (looks === null) {
    say(
      `Of ${articles}, --apply bounds ${blanked} and removes ${removed}. It also asks again for pages, at most ${LOOKS_A_DAY} a day.`,
    )
    return 0
  }
  say(
    `Of ${articles}, bounded ${blanked} and removed ${removed}${done ? '' : '; interrupted, run it again'}.`,
  )
  if (!introducesItself(config)) say(`Pages on the web are ${HELD}.`)
  say(looksInWords(looks))
  if (looks.removed === 0) return 0
  const { isListed, left } = await finishRemovals(pool, config, say, signal)
  if (left > 0) say('It is not done yet: run "npm run articles -- clear".')
  return isListed && left === 0 ? 0 : 1
}

/** Asks for pages again. What they say is read without root's rights. */
async function look(
  { config, say, signal }: CommandContext,
  pool: Pool,
  { outlet_no: no, domain }: KnownOutlet,
  write: Write,
): Promise<Looks> {
  const problem = dropPrivileges()
  if (problem !== null) say(problem)
  const composer = openComposer({ ...composerOptions(config), threads: 1 })
  try {
    return await lookAgain({ pool, config, composer, write, signal }, { domain, no })
  } finally {
    await composer.close()
  }
}

const looksInWords = ({ asked, gone, refused, blanked, removed, putOff }: Looks) =>
  `Asked again for ${counted(asked, 'page')} (at most ${LOOKS_A_DAY} of an outlet a day): ${gone} gone, ${refused} refused; ${counted(blanked, 'article')} blanked, ${removed} taken out. ${counted(putOff, 'page')} put off.`

interface KnownOutlet {
  outlet_no: number
  domain: string
  licence: string | null
}

/** Signals of more than half of the pages that were finished in the last week. */
async function usualSignals(db: Queryable, outletNo: number): Promise<Signal[]> {
  const { rows } = await db.query<Signal>(
    `with latest as (
       select coalesce(rights, '[]') as rights from pages
        where outlet_no = $1 and (state = 'done' or reason = 'rights') and finished_at > now() - interval '${SHOWN_FOR}'
     )
     select s ->> 'signal' as signal, s ->> 'source' as source from latest, jsonb_array_elements(rights) as s
      group by 1, 2 having count(*) * 2 > (select count(*) from latest) order by 1, 2`,
    [outletNo],
  )
  return rows
}

interface Article {
  seq: bigint
  id: string
  url: string
  snippet: string | null
  pageNo: bigint | null
  /** Signals of the article's page; null: none, or unknown. */
  own: Signal[] | null
  promised: boolean
}

// $1 domain, $2 after, $3 limit. Index: the primary key.
const NEXT = `
  select a.seq, a.id, t.url, t.snippet, coalesce(e.page_no, r.page_no) as "pageNo", p.rights as own,
         e.seq is not null as promised
    from articles a join article_texts t using (seq) left join embeddings e using (seq)
         left join article_rights r on r.id = a.id left join pages p on p.page_no = coalesce(e.page_no, r.page_no)
   where a.publisher_no in (select publisher_no from publishers where outlet = any ${allDomains('array[$1::text]')}) and a.seq > $2
   order by a.seq limit $3`

const nextArticles = async (db: Queryable, domain: string, after: bigint) =>
  (await db.query<Article>(NEXT, [domain, after, PART])).rows

/** Decides what may be done with an article at present. It remembers hosts without files. */
function createJudge(pool: Pool, rules: RightsRules, { licence }: KnownOutlet, usual: Signal[]) {
  const hosts = new Map<string, Promise<HostFiles>>()
  const isOfPage = ({ source }: Signal) => source === 'header' || source === 'meta'
  const isLicensed = Boolean(licence)
  const unread = new Set<string>()
  const judge = async ({ url, own }: Article): Promise<Rights> => {
    const address = new URL(url)
    const host = hosts.get(address.host) ?? filesOf(pool, address.host)
    hosts.set(address.host, host)
    const { rules: tdm, stated, known } = await host
    if (!known) unread.add(address.host)
    const headers = withFiles(null, ruleFor(tdm, address), statedOf(stated, address))
    const page = { headers, metas: new Map(), licences: [], hasUnshown: false, isLicensed }
    const files = readRights(page, rules, new Date()).seen
    const signals = [...files, ...(own ?? []).filter(isOfPage), ...usual.filter(isOfPage)]
    return rightsOf(signals, rules.tdm, isLicensed, new Date())
  }
  return { judge, unread: () => [...unread] }
}

interface HostFiles {
  rules: TdmRule[]
  stated: Awaited<ReturnType<typeof recallStated>>
  /** Whether the crawler knows the files. */
  known: boolean
}

/**
 * The files of a host as the crawler last read them. The crawler drops the files of hosts that it
 * has not visited for days.
 */
async function filesOf(db: Queryable, host: string): Promise<HostFiles> {
  const found = await readRow<{ tdm: TdmRule[] | null; known: boolean }>(
    db,
    'select tdm, robots is not null as known from hosts where host = $1',
    [host],
  )
  return {
    rules: found?.tdm ?? [],
    stated: await recallStated(db, host),
    known: found?.known ?? false,
  }
}
