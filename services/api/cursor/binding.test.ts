import t from 'tap'
import type { Plan } from '../../../shared/plans/keys.ts'
import { readRequest } from '../parameters/request.ts'
import { spellingsOf } from '../parameters/spelling.ts'
import { bindingFor, bindingOf } from './binding.ts'

const plan: Plan = {
  countries: ['NL', 'BE'],
  history: { kind: 'fixed', at: new Date('2026-01-01T00:00:00Z') },
  rate: 60,
  quota: null,
}
const query = 'q=brug&country=BE,NL&per_page=4&has_author=no&published_after=2026-11-01'

t.test('decision 21: the binding of a request stays as clients hold it in their cursors', async t => {
  t.equal(
    bindingOf(readRequest(query, 'articles'), plan),
    '["articles","keyword","brug","title","published_at","desc",4,["NL","BE"],null,false,null,null,1793491200000,null,null,["BE","NL"],1767225600000]',
  )
})

t.test('decision 21: a parameter that is added binds the requests that give it, and no others', async t => {
  const request = readRequest(query, 'articles')
  const withAdded = (bound: unknown) => ({ section: { bound, written: null }, ...spellingsOf(request) })
  t.equal(bindingFor(withAdded(null), plan), bindingOf(request, plan))
  const bindings = ['sport', 'politics'].map(section => bindingFor(withAdded(section), plan))
  t.equal(new Set([bindingOf(request, plan), ...bindings]).size, 3)
})
