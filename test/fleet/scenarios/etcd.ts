import { until } from '#test/fleet'
import { type Loss, since, strike } from '#test/fleet/hosts/host'
import { type EtcdMember, startEtcd } from '#test/fleet/parts/etcd'
import type { Scenario, Stage } from './scenario.ts'

const LIMIT_MS = 60_000

/** The smallest scenario, and the example for others: three hosts, one of which is lost. */
export const etcd: Scenario = {
  name: 'etcd',
  about: 'Three hosts with etcd: the leader is killed, paused and cut off, and writes go on.',
  needsNamespaces: false,
  async run(stage) {
    const { box, say } = stage
    const hosts = await Promise.all(['one', 'two', 'three'].map(name => box.addHost(name)))
    const members = await startEtcd(box, hosts)
    say('etcd runs on three hosts.')
    await lose(stage, members, 'killed')
    await lose(stage, members, 'paused')
    if (box.network.kind !== 'loopback') await lose(stage, members, 'cut off')
  },
}

/** Loses the leader, writes meanwhile, and reads what was written from it when it is back. */
async function lose(
  { figure, findings }: Stage,
  members: readonly EtcdMember[],
  how: Loss,
): Promise<void> {
  const leader = await leaderOf(members)
  const began = Date.now()
  const undo = await strike(leader.host, how)
  const [other] = members.filter(member => member !== leader)
  if (!other) throw new Error('There is one member alone.')
  await until(() => other.put(how, 'kept').then(() => true), LIMIT_MS)
  figure(`leader ${how}: writes went on after`, since(began))
  const answers = await leader.get(how).then(
    () => true,
    () => false,
  )
  if (answers) findings.add(`The host ${leader.host.name} was ${how}, and still answered.`)
  await undo()
  const isBack = async () => (await leader.get(how)) === 'kept'
  await until(isBack, LIMIT_MS, () => `${leader.host.name} does not come back after it was ${how}.`)
}

async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember> {
  let found: EtcdMember | undefined
  const find = async () => {
    for (const member of members) if (await member.isLeader().catch(() => false)) found = member
    return found !== undefined
  }
  await until(find, LIMIT_MS, () => 'etcd has no leader.')
  if (!found) throw new Error('etcd has no leader.')
  return found
}
