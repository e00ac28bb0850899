import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createKey } from '#shared/plans/keys'
import { createWorld } from '#test/semantic/world'
import { PLAN } from './api.ts'
import { installPython, type PythonTools } from './python.ts'

const tools = await installPython('schemathesis==4.32.5')
const skip = typeof tools === 'string' ? tools : false

/** Output and verdict of Schemathesis; `--report` and colours off. */
function schemathesis(
  { program, folder }: PythonTools,
  args: string[],
): Promise<{ ok: boolean; output: string }> {
  const options = {
    cwd: folder,
    timeout: 1_500_000,
    maxBuffer: 1 << 26,
    env: { ...process.env, NO_COLOR: '1' },
  }
  return new Promise(resolve => {
    execFile(
      program('schemathesis'),
      ['--no-color', 'run', ...args],
      options,
      (error, stdout, stderr) => resolve({ ok: error === null, output: stdout + stderr }),
    )
  })
}

/** Its counts, and the whole report after a failure. */
const told = ({ ok, output }: { ok: boolean; output: string }) =>
  ok ? (/Test cases:\n(.*)/.exec(output)?.[1]?.trim() ?? output) : output

type ChangedSchema = { type?: string; enum?: string[]; pattern?: string; anyOf?: ChangedSchema[] }

/** The parts of the document that are changed below. */
interface ChangedDocument {
  components: {
    parameters: Record<
      'search' | 'q' | 'outlet' | 'author' | 'sort' | 'per_page',
      { schema: ChangedSchema }
    >
  }
  paths: Record<string, { get: { parameters: { $ref?: string }[] } }>
}

t.test('schemathesis finds nothing', { skip }, async t => {
  if (typeof tools === 'string') return
  t.teardown(tools.remove)
  const world = await createWorld(t, { AUTH_LOCK_FAILURES: '1000000' })
  const history = { kind: 'fixed' as const, at: new Date('1900-01-01') }
  const { secret } = await createKey(world.pool, 'test', { ...PLAN, history, rate: 1_000_000 })
  await world.index(
    Array.from({ length: 200 }, (_, i) => ({
      title: `De brug nummer ${i}`,
      body: i % 3 ? 'Het water onder le pont.' : null,
      language: (['nl', 'fr', 'de', 'lb', 'en'] as const)[i % 5]!,
      publishedAt: i % 9 ? new Date(Date.UTC(2026, i % 10, 1)) : null,
    })),
  )
  await world.fleet.start('embedder')
  await world.embedded(200, 180_000)
  await world.fleet.start('api')
  const base = world.fleet.base()
  const seed = Math.floor(Math.random() * 2 ** 31)
  const common = ['--url', base, '-H', `Authorization: Bearer ${secret}`, '--seed', String(seed)]
  const document: ChangedDocument = JSON.parse(
    await (await fetch(`${base}/v1/openapi.json`)).text(),
  )
  const file = join(tools.folder, 'openapi.json')

  await t.test('every answer is as the document says, whatever is asked', async t => {
    // White space counts as not given (decision 11), which `allowEmptyValue` does not say.
    const { per_page: perPage } = document.components.parameters
    perPage.schema = { anyOf: [perPage.schema, { type: 'string', pattern: '^\\s*$' }] }
    await writeFile(file, JSON.stringify(document))
    // A document speaks of one parameter at a time; which go together (`sort=relevance` only with
    // `search=semantic` …), and that a cursor must be one of ours, it cannot say, so values that it
    // allows are refused.
    const result = await schemathesis(tools, [
      file,
      ...common,
      '-n',
      '300',
      '--exclude-checks',
      'positive_data_acceptance',
    ])
    t.ok(result.ok, `seed ${seed}: ${told(result)}`)
    t.comment(`seed ${seed}: ${told(result)}`)
  })

  await t.test('what the document allows for each parameter is accepted', async t => {
    // That check alone, on a document without rules that depend on another parameter or that only
    // words can state.
    const { parameters } = document.components
    parameters.search.schema = { type: 'string', enum: ['keyword'] }
    // Only some regular expression engines know character classes, so the document states this in
    // words.
    parameters.q.schema.pattern = '^\\s*$|^[^\\u0000]*[\\p{L}\\p{Nd}][^\\u0000]*$'
    for (const { schema } of [parameters.outlet, parameters.author]) {
      schema.pattern = '^\\s*$|^[^\\u0000]*[\\p{L}\\p{N}\\p{P}\\p{S}][^\\u0000]*$'
    }
    parameters.sort.schema = { type: 'string', enum: ['published_at', 'ingested_at'] }
    const dependent = ['#/components/parameters/cursor', '#/components/parameters/published_before']
    for (const { get } of Object.values(document.paths)) {
      get.parameters = get.parameters.filter(({ $ref = '' }) => !dependent.includes($ref))
    }
    await writeFile(file, JSON.stringify(document))
    const result = await schemathesis(tools, [
      file,
      ...common,
      '-n',
      '300',
      '--checks',
      'positive_data_acceptance',
    ])
    t.ok(result.ok, `seed ${seed}: ${told(result)}`)
    t.comment(`seed ${seed}: ${told(result)}`)
  })
})
