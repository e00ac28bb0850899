import t from 'tap'
import { readAddress } from './address.ts'

const CONFIG = { ALERT_HOSTS: ['own.example', 'OTHER.example:81'], SMTP_URL: '', SMTP_FROM: '' }
const MAILING = { ...CONFIG, SMTP_URL: 'smtp://localhost' }
const found = async (host: string) => [
  { address: host === 'in.example' ? '10.1.2.3' : '8.8.8.8', family: 4 },
]

t.test('an address is taken in one spelling', async t => {
  for (const [written, to = written] of [
    [' https://A.example/x#y\n', 'https://a.example/x'],
    ['https://a.example/?q=1'],
    ['https://8.8.8.8/'],
    [`https://a.example/${'a'.repeat(1_982)}`],
    ['https://[2001:4860:4860::8888]/'],
    ['http://own.example:8443/'],
    ['http://other.example:81/'],
    ['MAILTO:Lezer@example.org', 'mailto:Lezer@example.org'],
    [' lezer@example.org', 'mailto:lezer@example.org'],
  ])
    t.same(await readAddress(written!, MAILING, found), { to })
  const from = { ...CONFIG, SMTP_FROM: 'a@example.org' }
  t.same(await readAddress('mailto:a@b.example', from, found), { to: 'mailto:a@b.example' })
})

t.test('an address is refused with a reason', async t => {
  for (const [written, why] of [
    ['', /^Write a mail address, as name@/],
    ['ftp://a.example/', /^Write a mail address, as name@/],
    [`https://a.example/${'a'.repeat(1_983)}`, /^Write a mail address, as name@/],
    ['https://u@a.example/', /without a name/],
    ['https://:p@a.example/', /without a name/],
    ['http://a.example/', /^Write an address that begins with https:\/\/: http/],
    ['http://other.example/', /that begins with https/],
    ['https://a.example:8443/', /Leave the port out/],
    ['https://in.example/', /^The host in\.example has no public address\.$/],
    ['https://10.1.2.3/', /^The host 10\.1\.2\.3 has no public/],
    ['https://[::1]/', /no public address/],
    ['mailto:a@example.org?subject=x', /one address/],
    ['a@', /one address/],
    ['mailto:a\u0000@example.org', /one address/],
    ['mailto:a@b.example,c@d.example', /one address/],
  ] as const)
    t.match(await readAddress(written, MAILING, found), { why }, written)
  const none = readAddress('https://a.example/', CONFIG, async () => [])
  t.match(await none, { why: /The host a\.example has no public/ })
  t.match(await readAddress('mailto:a@b.example', CONFIG, found), { why: /sends no mail/ })
})
