import { counted } from '#shared/log/printable'
import { countOf } from '#shared/postgres/pool'
import { runCommand, wholeNumber } from '#shared/process/command'
import { articlesBar } from './terminal/terminal.ts'
import { UNKNOWABLE, verifyAll } from './verify/checks.ts'
import { noteVerification } from './verify/record.ts'
import { createReport, type Extent } from './verify/report.ts'

await runCommand(
  {
    name: 'verify',
    about: [
      'Computes all that follows from articles anew and compares it, while everything runs: segments, words, snippets, ids,',
      'addresses, names, times, days, groups of copies, vectors, feeds, alerts, citations. It changes nothing of them and',
      'locks nothing. It names what differs, what mends it, and what it cannot tell; doctor says when it last ran. Exit',
      'code: 1 when something differs, else 0.',
    ].join('\n'),
    usage: ['[--sample N [--seed S]] [--archive N] [--json]'],
    options: {
      sample: { value: 'N', about: 'N segments drawn at random, and all that is quickly compared' },
      seed: { value: 'S', about: 'draws the same segments again' },
      archive: {
        value: 'N',
        about: 'asks each index of the archive N random questions (50 by default)',
      },
      json: {
        about: 'prints {"ok", "articles", "segments", "differences", "notes", "unknowable" …}',
      },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, options, openPool, print, say, signal }) => {
    const count = wholeNumber('sample', options.sample, 1_000_000)
    const seed = wholeNumber('seed', options.seed, 1_000_000_000, 0) ?? Date.now() % 1_000_000
    const sample = count === null ? null : { count, seed }
    const pool = openPool({ max: 2, statementTimeout: 0, mayBeStandby: true })
    const report = createReport()
    const start = performance.now()
    const bar = articlesBar(await countOf(pool, 'select last_seq::float8 from ingest_clock'))
    const questions = wholeNumber('archive', options.archive, 100_000) ?? undefined
    const extent: Extent = { sample, progress: bar.update, signal }
    if (questions !== undefined) extent.questions = questions
    const verified = await verifyAll(pool, config, report, extent).finally(() => bar.stop())
    const seconds = Math.round((performance.now() - start) / 1_000)
    const ok = report.isSound() && !signal.aborted
    const all = {
      ok,
      ...verified,
      sample,
      seconds,
      differences: [...report.kinds.values()],
      notes: report.notes,
      unknowable: UNKNOWABLE,
    }
    for (const line of options.json === true ? [JSON.stringify(all)] : report.lines()) print(line)
    for (const note of report.notes) say(note)
    const drawn = sample === null ? '' : `, drawn by --seed ${seed}`
    const compared = `${counted(verified.articles, 'article')} and ${counted(verified.segments, 'segment')}${drawn}`
    say(`${signal.aborted ? 'Interrupted after' : 'Compared'} ${compared}, in ${seconds} s.`)
    if (ok) say('Nothing differs.')
    say(`Nobody can compare: ${UNKNOWABLE.join('; ')}.`)
    // Last, because a full disk refuses it, and what was found is told all the same.
    if (!signal.aborted)
      await noteVerification(pool, { ...verified, seconds, sample: count }, report)
    return ok ? 0 : 1
  },
)
