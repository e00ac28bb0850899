import type { Config } from '../../../../shared/config/config.ts'
import { type Client, type Pool, transaction } from '../../../../shared/postgres/pool.ts'
import type { Validators } from '../../fetch/validators.ts'
import type { DueFeed } from '../due-feed.ts'
import type { Named } from '../parsing/addresses.ts'
import { type FeedLinks, NO_LINKS } from '../parsing/links.ts'
import type { ParsedFeed } from '../parsing/worker.ts'
import { nextArticleInterval, nextPoll } from '../scheduling/poll-interval.ts'
import { intervalRangeOf, type PollIntervalSettings } from '../scheduling/schedule.ts'
import { markRead, noteArchives, noteUnreadable, type UnreadArchive } from './archive-memory.ts'
import { type SavingSettings as MemorySettings, type Saved, saveNamed } from './crawl-memory.ts'
import { closes, type Gap, isAllNew, noteGap } from './gaps.ts'

/** ms until the next poll of a feed whose hub told of a change while this poll was under way. */
const RUNG_MEANWHILE = 10_000

/** What saving the result of a poll depends on. */
export type SavingSettings = PollIntervalSettings & MemorySettings & Pick<Config, 'CRAWL_ARCHIVE_DOCUMENTS'>

/** The result of a successful poll. */
export interface GoodPoll {
  named: Named[]
  links: FeedLinks
  /** As `showsLatestAlone`. */
  rolls: boolean
  /** Null: the server answered "unchanged", so the old ones hold. */
  validators: Validators | null
  /** ms for which the answer says that it stays as it is. */
  fresh: number
  /** New addresses from the parts that the same poll has read. */
  before: number
}

/** The result of saving a document. */
export interface SavedDocument {
  /** The number of new addresses. */
  discovered: number
  /** A gap that nothing can close any more. */
  gap: Gap | null
}

/**
 * Ends a successful poll. One transaction saves the new addresses, the validators of the answer
 * that named them, and the time of the next poll. If the validators were saved first, a crash could
 * lose addresses: the server would answer "unchanged" from then on.
 *
 * @returns null when the feed has left the catalogue meanwhile
 */
export async function savePoll(
  pool: Pool,
  feed: DueFeed,
  { named, links, rolls, validators, fresh, before }: GoodPoll,
  config: SavingSettings,
): Promise<SavedDocument | null> {
  return transaction(pool, async client => {
    const habits = await lockFeed(client, feed)
    if (habits === null) return null
    const saved = await saveNamed(client, feed, named, config)
    const reread = namesOnlyNew(saved, named.length) ? 'infinity' : null
    await noteArchives(client, feed, links, { depth: 0, reread }, config.CRAWL_ARCHIVE_DOCUMENTS)
    const between = habits.named && rolls && isAllNew(saved, named.length) ? habits.between : null
    const gap = between && (await noteGap(client, feed, between, links, config.CRAWL_ARCHIVE_DOCUMENTS))
    const discovered = before + saved.added
    const articleInterval = nextArticleInterval(habits, discovered, habits.first)
    const wait = nextPoll(
      { articleInterval, silence: discovered > 0 ? 0 : habits.silence, fresh },
      intervalRangeOf(config),
    )
    await client.query(
      `update feeds
          set etag = case when $2 then $3 else etag end, last_modified = case when $2 then $4 else last_modified end,
              next_poll_at = clock_timestamp() + interval '1 ms' * case
                when exists (select from websub_subscriptions w where w.feed_no = $1 and w.rung_at >= $10)
                then least($11::int, $5::int)
                when exists (select from feed_archives a where a.feed_no = $1 and a.read_at is null and a.depth <= $9)
                then least($8::int, $5::int)
                else $5::int end,
              poll_interval = $5::int, rhythm = $6,
              last_polled_at = clock_timestamp(), last_success_at = clock_timestamp(),
              last_new_at = case when $7 then clock_timestamp() else last_new_at end,
              failures = 0, last_error = null, parsing = false, named = named or $12
        where feed_no = $1`,
      [
        feed.feedNo,
        validators !== null,
        validators?.etag ?? null,
        validators?.lastModified ?? null,
        wait,
        articleInterval,
        discovered > 0,
        // A backlog is read without long pauses.
        config.POLL_INTERVAL_MIN,
        config.CRAWL_ARCHIVE_DOCUMENTS,
        feed.begunAt,
        RUNG_MEANWHILE,
        named.length > 0,
      ],
    )
    return { discovered, gap }
  })
}

/** Saves the addresses that one part of a sitemap index named, with the part's own validators. */
export async function savePart(
  pool: Pool,
  feed: DueFeed,
  part: { url: string; modified: string | null },
  named: Named[],
  validators: Validators,
  settings: SavingSettings,
): Promise<number | null> {
  return transaction(pool, async client => {
    if ((await lockFeed(client, feed)) === null) return null
    const { added } = await saveNamed(client, feed, named, settings)
    await client.query(
      `insert into sitemap_parts (feed_no, url, modified, etag, last_modified, read_at)
       values ($1, $2, $3, $4, $5, clock_timestamp())
       on conflict (feed_no, url) do update
          set modified = excluded.modified, etag = excluded.etag, last_modified = excluded.last_modified, read_at = excluded.read_at`,
      [feed.feedNo, part.url, part.modified, validators.etag, validators.lastModified],
    )
    return added
  })
}

/**
 * Saves the addresses that a page or archive document of a feed named. The same transaction notes
 * that it was read, and where it leads. They tell nothing of the feed's rhythm.
 *
 * @returns null when the feed has left the catalogue meanwhile
 */
export async function saveArchive(
  pool: Pool,
  feed: DueFeed,
  archive: UnreadArchive,
  { named, links }: Pick<ParsedFeed, 'named' | 'links'>,
  config: MemorySettings & Pick<Config, 'CRAWL_ARCHIVE_DOCUMENTS'>,
): Promise<SavedDocument | null> {
  return transaction(pool, async client => {
    if ((await lockFeed(client, feed)) === null) return null
    const saved = await saveNamed(client, feed, named, config)
    await markRead(client, feed, archive)
    const open = archive.gap === null || closes(saved, archive.gap) ? null : archive.gap
    const reread = namesOnlyNew(saved, named.length) ? 'infinity' : (open?.to ?? null)
    await noteArchives(client, feed, links, { depth: archive.depth, reread }, config.CRAWL_ARCHIVE_DOCUMENTS)
    const gap = open && (await noteGap(client, feed, open, links, config.CRAWL_ARCHIVE_DOCUMENTS))
    return { discovered: saved.added, gap }
  })
}

const namesOnlyNew = ({ added }: Saved, named: number) => added > 0 && added === named

/**
 * Notes that a page or archive document of a feed could not be read. After some tries it is given
 * up, and with it the hope that it closes a gap.
 */
export async function saveUnreadable(pool: Pool, feed: DueFeed, archive: UnreadArchive): Promise<Gap | null> {
  return transaction(pool, async client => {
    if ((await lockFeed(client, feed)) === null) return null
    const isGivenUp = await noteUnreadable(client, feed, archive)
    return isGivenUp && archive.gap !== null ? noteGap(client, feed, archive.gap, NO_LINKS, 0) : null
  })
}

interface LockedFeed {
  articleInterval: number | null
  silence: number
  first: boolean
  /** It has named an address since it is in the catalogue. */
  named: boolean
  /** The time since its last successful poll; null: this is the first one. */
  between: Gap | null
}

/**
 * Locks the feed against a `sync` that removes it at this moment. That `sync` waits, and then also
 * removes the pages that we added.
 */
async function lockFeed(client: Client, feed: DueFeed): Promise<LockedFeed | null> {
  const { rows } = await client.query<Omit<LockedFeed, 'between'> & { from: Date | null; to: Date }>(
    `select f.rhythm as "articleInterval", f.last_success_at is null as first, f.named,
            f.last_success_at as from, now() as to,
            coalesce(extract(epoch from clock_timestamp() - coalesce(f.last_new_at, f.last_success_at)) * 1000, 0)::float8 as silence
       from feeds f join outlets o using (outlet_no)
      where f.feed_no = $1 and f.active and o.active
        for share of o for no key update of f`,
    [feed.feedNo],
  )
  const [row] = rows
  if (row === undefined) return null
  const { from, to, ...habits } = row
  return { ...habits, between: from === null ? null : { from, to } }
}
