import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import t from 'tap'
import { readAddress } from './address.ts'
import { addressesOf, lookupApart } from './names.ts'

const OPTIONS = { ALERT_HOSTS: ['own.example'], SMTP_URL: '', SMTP_FROM: '' }

/** The name in a question, and the bytes of the question. */
function questionOf(message: Buffer): { name: string; question: Buffer } {
  const labels: string[] = []
  let at = 12
  while (message[at] !== 0) {
    const length = message[at] ?? 0
    labels.push(message.toString('ascii', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.'), question: message.subarray(12, at + 5) }
}

/** An answer (RFC 1035): the address, or that the name does not exist. */
function answerTo(message: Buffer, question: Buffer, address: string | undefined): Buffer {
  const isA = question.readUInt16BE(question.length - 4) === 1
  const has = address !== undefined && isA
  const head = Buffer.from(message.subarray(0, 12))
  head.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2)
  head.writeUInt16BE(has ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  const record = has
    ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]
    : []
  return Buffer.concat([head, question, Buffer.from(record)])
}

/** A name server. Names that begin with `slow` get no answer. */
async function startNames(addresses: Record<string, string>) {
  const socket = createSocket('udp4')
  socket.on('error', () => {})
  socket.on('message', (message: Buffer, { port, address }: RemoteInfo) => {
    const { name, question } = questionOf(message)
    if (!name.startsWith('slow'))
      socket.send(answerTo(message, question, addresses[name]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { servers: [`127.0.0.1:${socket.address().port}`] }
}

t.test('names are looked up at their name servers, within a limit', async t => {
  const { servers } = await startNames({ 'good.example': '192.0.2.7' })
  t.same(await addressesOf('good.example', servers), [{ address: '192.0.2.7', family: 4 }])
  t.same(await addressesOf('absent.example', servers), [])
  t.same(await addressesOf('localhost', servers), [], '/etc/hosts is not read')
  t.same(await addressesOf('slow.example', servers, 500), [])
})

t.test('a connection to a name that a client gave learns the same', async t => {
  const found = await new Promise(resolve =>
    lookupApart('localhost', {}, (error, addresses) => resolve([error, addresses])),
  )
  t.same(found, [null, []])
})

t.test('one sentence says that a host is not public, whether it exists or not', async t => {
  const { servers } = await startNames({ 'inside.example': '10.1.2.3', 'out.example': '8.8.8.8' })
  const read = (host: string) =>
    readAddress(`https://${host}/`, OPTIONS, name => addressesOf(name, servers))
  t.same(await read('out.example'), { to: 'https://out.example/' })
  for (const host of ['inside.example', 'absent.example'])
    t.same(await read(host), { why: `The host ${host} has no public address.` })
  t.same(await read('own.example'), { to: 'https://own.example/' }, "the operator's are not asked")
})
