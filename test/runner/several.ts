import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'

/*
 * Runs several test files in this process, one after another. Modules are loaded and compiled once
 * for all of them, which takes longer than most files do. What a file imports as tap is a test of
 * its own. So whatever the file tears down is gone before the next file begins.
 */
// tap names the folders of its tests by the command line, so the files must not stand there.
const files = process.argv.splice(2)
const { default: t } = await import('tap')
const now: { test: Test | null } = { test: null }
Object.assign(globalThis, { severalFiles: now })
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'tap'
      ? {
          url: `data:text/javascript,export default severalFiles.test//${context.parentURL}`,
          shortCircuit: true,
        }
      : next(specifier, context),
})
for (const file of files) {
  await t.test(file, async test => {
    now.test = test
    await import(pathToFileURL(file).href)
  })
  // tap prints this line for the whole process alone. Teardowns of the file count, too.
  const { total, pass, fail, skip } = now.test!.counts
  if (total + skip === 0) t.fail(`${file} has no tests`)
  t.comment(`{ total: ${total}, pass: ${pass}, fail: ${fail}, skip: ${skip} }`)
}
