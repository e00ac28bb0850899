import { SingleBar } from 'cli-progress'
import { counted } from '../../shared/log/counted.ts'
import type { Pool } from '../../shared/postgres/pool.ts'

/** Counts at the stages of the pipeline. */
export interface Counts {
  pages: number
  /** Pages that were indexed, refused or given up. */
  finished: number
  articles: number
  embedded: number
}

export async function readCounts(pool: Pool): Promise<Counts> {
  const { rows } = await pool.query<Counts>(
    `select (select count(*) from pages)::int as pages,
            (select count(*) from pages where state not in ('waiting', 'stored'))::int as finished,
            (select count(*) from articles)::int as articles,
            (select count(*) from embeddings where embedded_at is not null)::int as embedded`,
  )
  return rows[0] ?? { pages: 0, finished: 0, articles: 0, embedded: 0 }
}

export const isSame = (a: Counts, b: Counts): boolean =>
  a.pages === b.pages && a.finished === b.finished && a.articles === b.articles && a.embedded === b.embedded

const inWords = ({ pages, finished, articles, embedded }: Counts) =>
  `${finished} of ${counted(pages, 'page')} read, ${counted(articles, 'article')} indexed, ${embedded} embedded`

export interface Progress {
  show(counts: Counts): void
  /** Called before other lines are printed. */
  pause(): void
}

/** A bar on a terminal; elsewhere plain lines, at most one every `LINE_MS`. */
export function createProgress(print: (line: string) => void): Progress {
  return process.stdout.isTTY ? barOnTerminal() : plainLines(print)
}

const LINE_MS = 5_000

function plainLines(print: (line: string) => void): Progress {
  let shown = ''
  let shownAt = 0
  return {
    show(counts) {
      const line = inWords(counts)
      if (line === shown || Date.now() - shownAt < LINE_MS) return
      shown = line
      shownAt = Date.now()
      print(line)
    },
    pause() {},
  }
}

function barOnTerminal(): Progress {
  let bar: SingleBar | null = null
  return {
    show(counts) {
      if (!bar) {
        bar = new SingleBar({
          format: '{bar} {words}',
          barsize: 24,
          hideCursor: true,
          clearOnComplete: true,
          stream: process.stdout,
        })
        bar.start(Math.max(counts.pages, 1), counts.finished, { words: inWords(counts) })
      }
      bar.setTotal(Math.max(counts.pages, 1))
      bar.update(counts.finished, { words: inWords(counts) })
    },
    pause() {
      bar?.stop()
      bar = null
    },
  }
}
