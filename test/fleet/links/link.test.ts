import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { freePort, until } from '../../fleet.ts'
import { type End, openLink } from './link.ts'

const end = async (): Promise<End> => ({ address: '127.0.0.1', port: await freePort() })

/** A server that says everything again. */
async function echo(t: Pick<Test, 'teardown'>): Promise<End> {
  const at = await end()
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  server.listen(at.port, at.address)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return at
}

t.test('a delayed link brings everything later, and in order', async t => {
  const link = await openLink(await end(), await echo(t))
  t.teardown(() => link.close())
  link.delay(150)
  const client = connect(link.port, link.address)
  const began = Date.now()
  client.write('one ')
  await once(client, 'data')
  t.ok(Date.now() - began >= 290, 'there and back')
  const heard = text(client)
  client.write('two ')
  // The shorter way must not overtake the longer one.
  await until(() => client.bytesWritten === 8, 5_000)
  link.delay(10)
  client.end('three')
  t.equal(await heard, 'two three')
})

t.test('a silent link accepts connections and says nothing; a broken one ends them', async t => {
  const link = await openLink(await end(), await echo(t))
  t.teardown(() => link.close())
  const client = connect(link.port, link.address)
  client.on('error', () => {})
  client.write('heard')
  await once(client, 'data')
  link.silence()
  let heard = 0
  client.on('data', () => heard++)
  client.write('lost')
  const other = connect(link.port, link.address)
  other.on('error', () => {})
  await once(other, 'connect')
  link.break()
  await until(() => client.destroyed && other.destroyed, 10_000)
  t.equal(heard, 0)

  link.mend()
  const third = connect(link.port, link.address)
  third.write('again')
  t.equal(String(await once(third, 'data')), 'again')
  third.destroy()
})
