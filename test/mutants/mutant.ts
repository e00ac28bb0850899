import { registerHooks } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'

/*
 * The process that tries changes of one file for `npm run mutate`. For each change all modules of
 * ours are loaded anew, under an address with its number: the test finds no state of an earlier
 * change in them. Packages and Node's own modules are loaded once.
 */
const [file = '', ...tests] = process.argv.slice(2).map(path => pathToFileURL(path).href)
const OURS = /^file:(?!.*\/node_modules\/).*\.ts$/
/** What a test imports as tap is the test that holds it. */
const now: { round: number; source: string; test: Test | null } = {
  round: 0,
  source: '',
  test: null,
}
Object.assign(globalThis, { mutation: now })

registerHooks({
  resolve(specifier, context, next) {
    const round = /\?round=\d+$/.exec(context.parentURL ?? '')?.[0]
    if (round === undefined) return next(specifier, context)
    const url = `data:text/javascript,export default mutation.test//${round}`
    if (specifier === 'tap') return { url, shortCircuit: true }
    const found = next(specifier, context)
    return OURS.test(found.url) ? { ...found, url: found.url + round } : found
  },
  load: (url, context, next) =>
    url.startsWith(`${file}?`) ? { ...next(url, context), source: now.source } : next(url, context),
})

/** Skips the subtests that follow a failed one. */
function endsEarly(test: Test): Test {
  type About = (one: Test) => unknown
  const run = test.test.bind(test) as (name: string, options: object, about: About) => unknown
  const early = (name: string, ...rest: [About] | [object, About]) => {
    const [about, options = {}] = rest.reverse() as [About, object?]
    return run(name, options, one => (test.counts.fail > 0 ? one.end() : about(one)))
  }
  return Object.assign(test, { test: early })
}

let thrown = 0
process.on('unhandledRejection', () => thrown++).on('uncaughtException', () => thrown++)
process.on('message', async (source: string) => {
  const before = thrown
  const results = await t.test('', { diagnostic: false }, async test => {
    Object.assign(now, { round: now.round + 1, source, test: endsEarly(test) })
    for (const one of tests) await import(`${one}?round=${now.round}`)
  })
  await setImmediate()
  process.send?.(results?.ok === true && thrown === before)
})
t.setTimeout(0)
// A runner that was killed leaves no process behind.
process.on('disconnect', () => process.exit())
// The channel alone does not keep a process of tap.
setInterval(() => {}, 1_000)
