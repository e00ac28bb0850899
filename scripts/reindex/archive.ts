import { articlesBar } from '#scripts/terminal/terminal'
import { type ArchiveWriter, openArchiveWriter } from '#search/archive/writer'
import { archiveSettingsOf } from '#shared/config/archive'
import { counted } from '#shared/log/printable'
import type { Pool } from '#shared/postgres/pool'
import { type CommandContext, UsageError } from '#shared/process/command'
import { createRateLimit, WHAT } from './run.ts'

/** Articles of one index of the archive. */
const INDEX_ARTICLES = 5_000_000n

/** The ways in which the command changes the archive. */
type Task = 'fill' | 'release' | 'empty'

/**
 * Fills the archive index in OpenSearch, drops the segments that it replaces, or empties it. After
 * an interruption the same command continues.
 */
export async function reindexArchive(
  context: CommandContext,
  pool: Pool,
  rate: number | null,
): Promise<number> {
  const { config, options, print, say } = context
  const task = taskOf(options)
  const settings = archiveSettingsOf(config)
  if (settings === null)
    throw new UsageError('Set OPENSEARCH_URL to the addresses of the nodes, comma-separated.')
  const archive = openArchiveWriter(pool, settings, {
    size: INDEX_ARTICLES,
    recent: BigInt(config.OPENSEARCH_RECENT),
    shards: config.OPENSEARCH_SHARDS,
    replicas: config.OPENSEARCH_REPLICAS,
  })
  try {
    if (options['dry-run']) {
      if (task !== 'fill') throw new UsageError('--dry-run goes with --archive alone.')
      const articles = await archive.countDue()
      if (options.json) print(JSON.stringify({ what: 'archive', articles, done: false }))
      say(`Would put ${counted(articles, 'article')} into the archive index.`)
      return 0
    }
    const result = await archive.exclusively(() => run(context, archive, task, rate))
    if (result === null)
      throw new UsageError('Another process fills or empties the archive index; wait for it.')
    const { articles, done } = result
    if (options.json) print(JSON.stringify({ what: 'archive', articles, done }))
    say(
      done
        ? summary(task, articles)
        : `Interrupted after ${counted(articles, 'article')}; the same command goes on.`,
    )
    return done ? 0 : 1
  } finally {
    await archive.close()
  }
}

function taskOf(options: CommandContext['options']): Task {
  const others = [...WHAT, 'outlet', 'language', 'from', 'to'].filter(
    name => options[name] !== undefined,
  )
  if (others.length > 0) throw new UsageError(`--archive and --${others[0]} do not go together.`)
  if (options.release && options.empty)
    throw new UsageError('--release and --empty contradict each other; write one of them.')
  return options.release ? 'release' : options.empty ? 'empty' : 'fill'
}

async function run(
  { options, signal }: CommandContext,
  archive: ArchiveWriter,
  task: Task,
  rate: number | null,
) {
  if (options.restart && task === 'fill') await archive.markStale()
  const limit = createRateLimit(rate, signal)
  const bar = articlesBar(
    task === 'fill' ? await archive.countDue() : await archive.countReleased(task),
  )
  let articles = 0
  try {
    const done = await archive[task](async more => {
      articles += more
      bar.update(articles)
      await limit(more)
    }, signal)
    return { articles, done }
  } finally {
    bar.stop()
  }
}

const summary = (task: Task, articles: number): string =>
  ({
    fill: `Put ${counted(articles, 'article')} into the archive index.`,
    release: `Dropped the segments of ${counted(articles, 'article')}; the archive index alone has them now.`,
    empty: `Emptied the archive index; ${counted(articles, 'article has', 'articles have')} segments again.`,
  })[task]
