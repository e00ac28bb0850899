import { LANGUAGES } from '#shared/articles/article'
import { noteRules } from '#shared/articles/rules'
import { counted } from '#shared/log/printable'
import { countOf, type Pool, readValue } from '#shared/postgres/pool'
import { runCommand, UsageError, wholeNumber } from '#shared/process/command'
import { reindexArchive } from './reindex/archive.ts'
import { reindexCopies, reindexSnippets, reindexVectors } from './reindex/fields.ts'
import {
  beginRun,
  type Chosen,
  countChosen,
  createRateLimit,
  endRun,
  findRun,
  isWhole,
  lookUpOutlet,
  type Progress,
  selectionOf,
  type Work,
} from './reindex/run.ts'
import { reindexStated, reindexWords } from './reindex/words.ts'
import { articlesBar } from './terminal/terminal.ts'
import { prove } from './verify/checks.ts'

await runCommand(
  {
    name: 'reindex',
    about: [
      'Rebuilds the index from the stored texts, for all articles or some. It rebuilds their words: after an upgrade with another',
      'tokenizer, stop words or stems, or when the index seems damaged. With --vectors the embedders make their vectors again,',
      'with --snippets the snippets are made anew, after an upgrade with another length, with --copies the groups of copies;',
      'with --statements what outlets say of articles is read from stored pages, where nothing is stored yet.',
      'Ids and times stay. Searches go on and see each part in its old or its new form. After an interruption the same command',
      'goes on where it was.',
    ].join('\n'),
    usage: [
      '[--outlet DOMAIN] [--language nl] [--from T] [--to T] [--rate N] [--restart] [--dry-run] [--json]',
      '--vectors | --snippets | --copies | --statements [the same]',
      '--archive [--release | --empty | --restart | --dry-run] [--rate N] [--json]',
    ],
    options: {
      vectors: { about: 'the vectors, not the words' },
      snippets: { about: 'the snippets, not the words' },
      copies: { about: 'the groups of copies, not the words' },
      statements: {
        about:
          'what outlets say of articles (section, kind, access), where nothing is stored and the page is; not the words',
      },
      archive: {
        about:
          'puts older articles into the archive index (OPENSEARCH_URL), and builds damaged or outdated indices anew',
      },
      release: { about: 'with --archive: drops the segments of the articles that it has' },
      empty: {
        about: 'with --archive: makes dropped segments anew, then deletes the archive index',
      },
      outlet: { value: 'DOMAIN', about: 'only articles of this outlet' },
      language: { value: 'LANGUAGE', about: `only articles in one of ${LANGUAGES.join(', ')}` },
      from: { value: 'T', about: 'only articles published then or later (ISO 8601, UTC)' },
      to: { value: 'T', about: 'only articles published before' },
      rate: { value: 'N', about: 'articles a second at most' },
      restart: { about: 'from the beginning, although the same command was interrupted' },
      json: { about: 'prints {"what", "articles", "segments", "done"}' },
      'dry-run': { about: 'says how many articles it would reindex' },
    },
    needs: ['DATABASE_URL'],
  },
  async context => {
    const { options, print, say, signal } = context
    const selection = selectionOf(options)
    const rate = wholeNumber('rate', options.rate, 1_000_000)
    const pool = context.openPool({ statementTimeout: 0 })
    const report = ({ articles, segments }: Progress, done: boolean) => {
      if (options.json) print(JSON.stringify({ what: selection.what, articles, segments, done }))
    }
    if (options.archive) return await reindexArchive(context, pool, rate)
    if (options.release || options.empty === true)
      throw new UsageError('--release and --empty go with --archive.')
    const chosen = await lookUpOutlet(pool, selection)
    const earlier = options.restart ? null : await findRun(pool, selection)
    if (options['dry-run']) {
      const articles = await countChosen(
        pool,
        chosen,
        earlier?.doneTo ?? 0n,
        earlier?.last ?? (await newest(pool)),
      )
      report({ articles, segments: 0 }, false)
      return say(`Would rebuild the ${selection.what} of ${counted(articles, 'article')}.`)
    }
    if (earlier !== null) {
      say(
        `Going on where it was interrupted; it began ${earlier.startedAt.toISOString()} (--restart begins anew).`,
      )
    }
    const run = earlier ?? (await beginRun(pool, selection))
    const bar = articlesBar(await countChosen(pool, chosen, run.doneTo, run.last))
    let progress: Progress = { articles: 0, segments: 0 }
    const tell = (now: Progress) => {
      progress = now
      bar.update(now.articles)
    }
    const limit = createRateLimit(rate, signal)
    const rebuild = {
      words: reindexWords,
      vectors: reindexVectors,
      snippets: reindexSnippets,
      copies: reindexCopies,
      statements: (work: Work) => reindexStated(work, context.config),
    }[selection.what]
    const done = await rebuild({ pool, chosen, run, limit, tell, say: bar.say, signal }).finally(
      () => bar.stop(),
    )
    if (done) await endRun(pool, selection)
    const { what } = selection
    const whole = isWhole(selection)
    if (done && whole && (what === 'words' || what === 'snippets')) await noteRules(pool, what)
    report(progress, done)
    say(await summary(pool, chosen, progress, done))
    const isSound =
      !done || !whole || selection.what !== 'words' || (await prove(pool, say, signal))
    return done && isSound ? 0 : 1
  },
)

async function newest(pool: Pool): Promise<bigint> {
  return (await readValue<bigint>(pool, 'select last_seq from ingest_clock'))!
}

async function summary(
  pool: Pool,
  { selection }: Chosen,
  { articles }: Progress,
  done: boolean,
): Promise<string> {
  if (!done) return `Interrupted after ${counted(articles, 'article')}; the same command goes on.`
  const bare =
    selection.what === 'vectors'
      ? await countOf(pool, 'select count(*)::int from embeddings where embedded_at is null', [])
      : 0
  if (bare > 0)
    return `Went through ${counted(articles, 'article')}. Of all articles, ${bare} ${bare === 1 ? 'has' : 'have'} no vector yet: \`npm run status\` says how many are promised, and how many failed.`
  return `Rebuilt the ${selection.what} of ${counted(articles, 'article')}.`
}
