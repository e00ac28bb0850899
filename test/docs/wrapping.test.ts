import t from 'tap'
import { commentLines, programs } from './checkout.ts'

const COLUMNS = 100

t.test(`comments wrap at ${COLUMNS} columns`, async t => {
  t.ok(programs().length > 500)
  for (const file of programs().filter(name => /^(bench|scripts|search|services|shared|test|web)\//.test(name))) {
    for (const { number, text } of commentLines(file)) {
      // A line with an address may be longer.
      if (text.length > COLUMNS && !/:\/\/|\S{60}/.test(text))
        t.fail(`${file}:${number} is ${text.length} columns wide`)
    }
  }
})
