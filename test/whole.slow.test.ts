import t from 'tap'
import { failureOf } from './script.ts'

/** Quick files that try some of each kind in `npm test`, because the whole takes half a minute. */
const FILES = ['search/oracle', 'search/counts', '../search/segment/builder']

for (const file of FILES)
  t.test(`the whole of ${file}`, async t => {
    t.equal(await failureOf(file, { WHOLE: 'yes' }), null)
  })
