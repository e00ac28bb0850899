import t from 'tap'
import { filled } from '#test/examples'
import { readAddress } from './address.ts'
import ADDRESSES from './addresses.json' with { type: 'json' }

const CONFIG = { ALERT_HOSTS: ['own.example', 'OTHER.example:81'], SMTP_URL: '', SMTP_FROM: '' }
const MAILING = { ...CONFIG, SMTP_URL: 'smtp://localhost' }
const found = async (host: string) => [
  { address: host === 'in.example' ? '10.1.2.3' : '8.8.8.8', family: 4 },
]

t.test('an address is taken in one spelling', async t => {
  const rows = filled(ADDRESSES.taken, { long: 'a'.repeat(1_982) })
  for (const { written, to } of rows) t.same(await readAddress(written, MAILING, found), { to })
  const from = { ...CONFIG, SMTP_FROM: 'a@example.org' }
  t.same(await readAddress('mailto:a@b.example', from, found), { to: 'mailto:a@b.example' })
})

t.test('an address is refused with a reason', async t => {
  const rows = filled(ADDRESSES.refused, { long: 'a'.repeat(1_983) })
  for (const { written, why } of rows)
    t.match(await readAddress(written, MAILING, found), { why: new RegExp(why) }, written)
  const none = readAddress('https://a.example/', CONFIG, async () => [])
  t.match(await none, { why: /The host a\.example has no public/ })
  t.match(await readAddress('mailto:a@b.example', CONFIG, found), { why: /sends no mail/ })
})
