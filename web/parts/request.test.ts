import t from 'tap'
import { sentenceOf } from '../parts/request.ts'

t.test('a failed request is said in words: those of the API where it has some', async t => {
  const failure = { kind: 'failure', errors: {}, retryAfter: null, requestId: '' } as const
  t.equal(sentenceOf({ ...failure, code: 'offline', message: '' }), 'The API does not answer.')
  t.equal(sentenceOf({ ...failure, code: 'other', message: 'Wait.' }), 'Wait.')
  t.match(sentenceOf({ ...failure, code: 'unreadable', message: '' }), 'cannot be read')
})
