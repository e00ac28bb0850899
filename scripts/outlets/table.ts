import type { LearnedTemplate } from '../../services/normaliser/template.ts'
import { counted } from '../../shared/log/counted.ts'
import { printableLine } from '../../shared/log/printable.ts'
import type { SharedFeed } from '../../shared/outlets/catalogue.ts'
import { type Budget, budgetsUsed, type OutletPages } from '../../shared/outlets/health.ts'
import { fallInWords, shareInWords } from '../../shared/outlets/origin-shares.ts'
import { keptInWords, type OutletHealth } from '../../shared/status/figures.ts'
import { columns, span } from '../terminal/terminal.ts'

/** An outlet with its pages and the feeds that it shares with others. */
type ListedOutlet = OutletHealth & OutletPages & { sharedFeeds: SharedFeed[]; template: LearnedTemplate | null }

const HEADER = [
  'health',
  'domain',
  '',
  'feeds',
  'read',
  'new',
  'rhythm',
  'done',
  'waiting',
  'today',
  'bytes',
  'new hosts',
  'read from',
  'trouble',
]

/**
 * Health for people: one line an outlet, those in trouble first; pages, bytes and new hosts are
 * today's.
 */
export function healthTable(outlets: ListedOutlet[], budget: Budget, now: Date): string {
  if (outlets.length === 0) return 'No outlets; `npm run outlets -- add FILE` adds those of a catalogue.'
  const rank = { failing: 0, blocked: 1, silent: 2, healthy: 3 }
  const sorted = [...outlets].sort((a, b) => rank[a.health] - rank[b.health] || (a.domain < b.domain ? -1 : 1))
  return columns([HEADER, ...sorted.map(outlet => row(outlet, budget, now).map(printableLine))])
}

function row(outlet: ListedOutlet, budget: Budget, now: Date): string[] {
  return [
    outlet.health,
    [outlet.domain, ...outlet.hosts].join(' '),
    outlet.country,
    `${outlet.feeds - outlet.failingFeeds}/${outlet.feeds}`,
    ago(outlet.lastSuccess, now),
    ago(outlet.lastNew, now),
    outlet.rhythm === null ? '–' : span(outlet.rhythm),
    `${outlet.pages.done}`,
    `${outlet.pages.waiting}`,
    `${outlet.today.pages}`,
    `${(outlet.today.bytes / 1_000_000).toFixed(1)} MB`,
    `${outlet.today.hosts}`,
    mainSources(outlet),
    troubles(outlet, budget, now).join('; '),
  ]
}

function troubles(outlet: ListedOutlet, budget: Budget, now: Date): string[] {
  return [
    ...(outlet.kept === null ? [] : [keptInWords(outlet.kept)]),
    ...outlet.blocks.map(({ kind, pages }) => `${kind} ${pages}×`),
    outlet.error ?? '',
    ...outlet.sharedFeeds.map(({ url, domains }) => sharing(url, domains, outlet.domain)),
    ...(outlet.gaps === null ? [] : [gapsInWords(outlet.gaps, now)]),
    ...budgetTroubles(outlet, budget),
    ...outlet.origins.falls.map(fall => `worse sources of ${fallInWords(fall)}`),
    ...(outlet.late > 0 ? [`late ${outlet.late}×`] : []),
    ...(outlet.restsUntil === null ? [] : [`rests for ${span(outlet.restsUntil.getTime() - now.getTime())}`]),
  ].filter(Boolean)
}

/** The most frequent source of each field, of those that differ between outlets. */
function mainSources({ origins, template }: ListedOutlet): string {
  const main = (['date', 'authors', 'text'] as const).flatMap(
    field => origins.shares.find(share => share.field === field) ?? [],
  )
  const learned = template === null ? '' : `${counted(template.furniture, 'repeated line')} left out`
  return [...main.map(shareInWords), learned].filter(Boolean).join(', ') || '–'
}

const sharing = (url: string, domains: string[], own: string) =>
  `shares ${url} with ${domains.filter(domain => domain !== own).join(', ')}`

const gapsInWords = ({ count, to }: NonNullable<OutletHealth['gaps']>, now: Date) =>
  `a feed rolled on unseen ${count}×, last ${ago(to, now)}`

/** Budgets of today that are spent; their pages wait for the next day. */
function budgetTroubles(outlet: ListedOutlet, budget: Budget): string[] {
  const used = budgetsUsed(outlet, budget)
  const spent = (['pages', 'bytes'] as const).filter(name => used[name] >= 1)
  return [
    ...(spent.length > 0
      ? [`today's ${spent.join(' and ')} are spent, ${counted(outlet.pages.waiting, 'page waits', 'pages wait')}`]
      : []),
    ...(outlet.putOff > 0 ? [`${counted(outlet.putOff, 'page')} on new hosts put off`] : []),
  ]
}

function ago(time: Date | null, now: Date): string {
  return time === null ? 'never' : `${span(Math.max(0, now.getTime() - time.getTime()))} ago`
}
