import t from 'tap'
import { failureOf } from '../../test/script.ts'

t.test('a large segment finds words side by side, too', async t => {
  t.equal(await failureOf('../search/segment/builder', { SIZE: '41000' }), null)
})
