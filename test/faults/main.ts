import { counted } from '#shared/log/printable'
import { runCommand, UsageError, wholeNumber } from '#shared/process/command'
import { chaos, type Verdict } from './chaos.ts'
import { type KindName, kindNames } from './injection/plan.ts'

const MOST = 1_000_000_000

await runCommand(
  {
    name: 'chaos',
    about:
      'Runs the whole fleet on servers of its own against a site that keeps publishing, injects faults at random, and reports losses.',
    usage: [
      '[--seconds N] [--seed S] [--redis] [--rate N] [--articles N] [--only KIND]… [--keep] [--json]',
    ],
    options: {
      seconds: { value: 'N', about: 'seconds of publishing and faults (default 60)' },
      seed: { value: 'S', about: 'a seed fixes the faults and their order (default 1)' },
      redis: { about: 'puts the work queues on a Redis (needs redis-server), and kills it too' },
      rate: { value: 'N', about: 'articles published a second (default 2)' },
      articles: { value: 'N', about: 'articles in the index at the start (default 0)' },
      only: {
        value: 'KIND',
        multiple: true,
        about: `only these faults: ${kindNames().join(', ')}`,
      },
      keep: { about: 'keeps data and logs of the run also when it found nothing' },
      json: { about: 'prints the verdict as one JSON object' },
    },
  },
  async ({ options, say, print, signal }) => {
    const verdict = await chaos({
      seconds: wholeNumber('seconds', options.seconds, MOST) ?? 60,
      seed: wholeNumber('seed', options.seed, MOST) ?? 1,
      rate: wholeNumber('rate', options.rate, MOST) ?? 2,
      imported: wholeNumber('articles', options.articles, MOST) ?? 0,
      redis: options.redis === true,
      keep: options.keep === true,
      only: kinds(options.only),
      signal,
      say,
    })
    if (options.json === true) print(JSON.stringify(verdict))
    else for (const line of inWords(verdict)) print(line)
    return verdict.ok ? 0 : 1
  },
)

function kinds(value: unknown): KindName[] {
  const asked: unknown[] = Array.isArray(value) ? value : []
  return asked.map(name => {
    const known = kindNames().find(kind => kind === name)
    if (!known) throw new UsageError(`There is no fault "${name}"; see --help.`)
    return known
  })
}

function inWords(verdict: Verdict): string[] {
  const { requests, polled } = verdict
  const kindsDone = Map.groupBy(verdict.faults, ({ kind }) => kind)
  return [
    `${counted(verdict.published, 'article')} published, ${verdict.indexed} indexed, ${verdict.embedded} embedded (queues on ${verdict.queues}, seed ${verdict.seed}).`,
    `${counted(verdict.faults.length, 'fault')}: ${[...kindsDone].map(([kind, done]) => `${done.length} × ${kind}`).join(', ')}.`,
    `Polled: ${Object.values(polled).join(', ')}. Sequences read to their end: ${verdict.sequences}.`,
    `${counted(requests.asked, 'request')}, ${requests.forgiven} failed while a fault lasted, ${requests.failed} outside of any; the slowest took ${requests.slowest} ms.`,
    ...verdict.findings.map(finding => `- ${finding}`),
    verdict.ok
      ? 'Nothing was lost, nothing doubled, nothing missed.'
      : `${counted(verdict.findings.length, 'finding')}; logs are in ${verdict.folder}/logs and ${verdict.folder}/data/logs.`,
  ]
}
