import t from 'tap'
import { addressOf, NEW_SEARCH, readSearch, writeSearch } from './search.ts'

const read = (address: string) => readSearch(new URL(address, 'http://x').searchParams)

t.test('issue 21.1: an address and its search are the same', async t => {
  for (const address of [
    '/',
    '/?q=brussel+metro&search_in=title_body',
    '/?q=brug&search=boolean&search_in=title&country=NL,BE&language=fr&has_author=false&outlet=de+krant&author=ann&sort=ingested_at&order=asc',
    '/?q=hoog+water&search=semantic&published_after=2026-11-01&published_before=2026-11-20T22:59:59.999Z',
  ]) {
    t.equal(addressOf(read(address)), address)
  }
  t.same(read('/'), NEW_SEARCH)
})

t.test('issue 21.1: what an address holds besides is left out', async t => {
  const search = read('/?q=x&search=magic&country=XX,NL&key=psk_secret&has_author=maybe&cursor=abc')
  t.equal(addressOf(search), '/?q=x&search_in=title&country=NL')
  for (const inherited of ['constructor', '__proto__', 'toString']) {
    t.same(read(`/?has_author=${inherited}&search=${inherited}&sort=${inherited}`).hasAuthor, null, inherited)
  }
  t.equal(writeSearch({ ...NEW_SEARCH, q: 'x', mode: 'semantic' }).has('search_in'), false, 'refused there')
})
