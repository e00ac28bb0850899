import t from 'tap'
import { invitedName, invitedSearch } from './consent.ts'

t.test('an invitation shows the name of a search, and no address in it', async t => {
  for (const [name, shown] of [
    ['Bruggen in  Gent', 'Bruggen in Gent'],
    ['win at https://evil.example/x now', 'win at … now'],
    ['see www.evil and evil.example/path?q', 'see … and …'],
    ['mail me@evil.example', 'mail …'],
    ['bücher.example', '…'],
    ['prijs 3.50 op 1.1.2026', 'prijs 3.50 op 1.1.2026'],
  ] as const)
    t.equal(invitedName(name), shown)
  t.equal(invitedName('a'.repeat(60)), 'a'.repeat(60))
  t.equal(invitedName('a'.repeat(61)), `${'a'.repeat(59)}…`)
})

t.test('an invitation says the words of a search where its name lacks them', async t => {
  const said = (name: string, search: string) => invitedSearch({ name, search })
  t.same(said('Treinen', 'q=nachttrein'), ['Treinen', 'nachttrein'])
  t.same(said('NACHTTREIN in Gent', 'q=Nachttrein'), ['NACHTTREIN in Gent'])
  t.same(said('Gent', 'outlet=a.example'), ['Gent'])
  t.same(said('Gent', 'q=www.evil'), ['Gent', '…'])
  const long = `${'a '.repeat(40)}nachttrein`
  t.same(said(long, 'q=nachttrein')[1], 'nachttrein', 'a name that is cut before them')
})
