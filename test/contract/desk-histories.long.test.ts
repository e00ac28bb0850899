import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { startNotifier } from '#services/notifier/notify'
import { readConfig } from '#shared/config/config'
import { retryAlerts } from '#shared/desk/alerts/alerts'
import { askUnasked, forgetAsked } from '#shared/desk/alerts/consent'
import { deleteKey } from '#shared/desk/of-key'
import { createLogger } from '#shared/log/logger'
import { revokeKey, rotateKey, updateKey } from '#shared/plans/keys'
import { countOf, type Pool } from '#shared/postgres/pool'
import { removeArticles } from '#shared/removals/remove'
import { type Receiver, startReceiver } from '#test/alerts'
import { createRandom, type Random } from '#test/faults/random'
import { startMailSink, until } from '#test/fleet'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { openDoor } from '#test/standbys/door'
import { type Answered, sent, startTestApi } from './api.ts'

/*
 * Random histories of what keys keep: their owners change searches and alerts, owners of addresses
 * agree and refuse, operators change keys and take articles out, notifiers are ended, and all this
 * beside each other. A naive model says what is there and who is told. SEED tries one again.
 */

const MAIL = { PUBLIC_URL: 'https://news.example', SMTP_FROM: 'a@news.example' }
const SETTINGS = { ...MAIL, ALERT_HOSTS: '127.0.0.1', AUTH_LOCK_FAILURES: '1000' }
const api = await startTestApi(t, SETTINGS)
const pool: Pool = api.pool
const database = api.config.DATABASE_URL
const { mails, url: SMTP_URL } = await startMailSink(t)
const { writer, indexer } = openTestWriter(pool, 3_600_000)
t.teardown(() => indexer.close())
// Each row takes its time, so that statements on several rows meet.
await pool.query(`create function slowly() returns trigger language plpgsql as $$ begin
  perform pg_sleep(random() * 0.03); return coalesce(new, old); end $$`)
for (const table of ['search_alerts', 'alert_asks', 'alert_messages'])
  await pool.query(
    `create trigger slowly before update or delete on ${table} for each row execute function slowly()`,
  )

interface Key {
  id: string
  secret: string
  state: 'lives' | 'ends' | 'gone'
  rotating: Promise<void>
}

interface Slot {
  key: Key
  word: string
  id: string
  name: string
  /** Where its alert tells; null: it has none. */
  to: string | null
  /** Articles with higher numbers must be told. */
  since: number
  /** The newest article when an address, or its consent, ended. */
  ended: Map<string, number>
  /** How often its question changed: what is on its way is then told again. */
  changes: number
  /** Its changes come one after another. */
  last: Promise<unknown>
}

interface World {
  slots: Slot[]
  receiver: Receiver
  mailbox: string
  random: Random
  articles: { number: number; word: string; title: string; id: string }[]
  /** Of articles that were taken out. */
  removed: Set<string>
  kills: number
}

function hold(condition: boolean, complaint: () => string): void {
  if (!condition) throw new Error(complaint())
}

let newest = 0
async function index({ articles }: World, slots: Slot[]): Promise<void> {
  const all = slots.map(({ word }) => ({ number: ++newest, word, title: `${word} stuk${newest}` }))
  const written = await writer.write(all.map(one => newArticle(one.number, { title: one.title })))
  for (const [at, one] of all.entries()) articles.push({ ...one, id: written[at]!.id })
}

/** Asks as the owner of a key, whose answer is good as long as the key lives. */
async function ask(key: Key, method: string, path: string, body?: unknown): Promise<Answered> {
  for (;;) {
    const { secret } = key
    const answer = await api.ask(secret, `/explore/${path}`, sent(method, body))
    await key.rotating
    if (answer.status === 401 && key.secret !== secret) continue
    const isRight = answer.status < 300 || (key.state !== 'lives' && answer.status < 500)
    hold(isRight, () => `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
}

/** Follows the link of a mail, as a stranger. */
async function follow(link: string, method: string): Promise<string> {
  for (;;) {
    const answer = await fetch(api.base + link, { method })
    const text = await answer.text()
    if (answer.status < 300 || answer.status === 404) return text
    // Few strangers of one address may ask at a time.
    hold(answer.status === 429, () => `${method} ${link}: ${answer.status}`)
    await pause(50)
  }
}

const linksIn = ({ mailbox }: World, link: RegExp): string[] => [
  ...new Set(
    mails.filter(mail => mail.includes(mailbox)).flatMap(mail => link.exec(mail)?.[1] ?? []),
  ),
]

async function keep(slot: Slot): Promise<void> {
  slot.name = `naam ${++newest}`
  const given = { name: slot.name, search: `outlets=krant&q=${slot.word}` }
  slot.id = (await ask(slot.key, 'POST', 'searches', given)).json.data?.id
}

function end(slot: Slot): void {
  if (slot.to !== null) slot.ended.set(slot.to, newest)
  slot.to = null
}

async function put(slot: Slot, to: string, when: string): Promise<void> {
  const answer = await ask(slot.key, 'PUT', `searches/${slot.id}/alert`, { to, when })
  if (answer.status >= 300 || slot.to === to) return
  end(slot)
  slot.to = to
  slot.since = newest
  slot.changes++
}

const ACTS: Record<string, (world: World, slot: Slot, random: Random) => unknown> = {
  put({ mailbox, receiver }, slot, random) {
    const hook = `${receiver.url}${slot.word}/${++newest}`
    const when = random.pick(['monday 08:00', '08:00', 'at once'])
    return put(slot, random.chance(0.5) ? `mailto:${mailbox}` : hook, when)
  },
  async end(_world, slot) {
    if ((await ask(slot.key, 'DELETE', `searches/${slot.id}/alert`)).status === 204) end(slot)
  },
  async drop({ receiver }, slot) {
    if ((await ask(slot.key, 'DELETE', `searches/${slot.id}`)).status !== 204) return
    end(slot)
    await keep(slot)
    await put(slot, `${receiver.url}${slot.word}/${++newest}`, 'at once')
  },
  async change(_world, slot, random) {
    const given = {
      name: `naam ${++newest}`,
      search: `${random.pick(['outlets=krant&', ''])}q=${slot.word}`,
    }
    slot.changes++
    if ((await ask(slot.key, 'PATCH', `searches/${slot.id}`, given)).status !== 200) return
    slot.name = given.name
    slot.since = newest
  },
  async set({ slots }, { key }, random) {
    for (const slot of slots) slot.changes += slot.key === key ? 1 : 0
    const domains = ['example.org', ...random.some(['een.nl', 'twee.nl'])]
    await ask(key, 'PUT', 'outlet-sets/krant', { domains })
  },
  index: (world, _slot, random) => index(world, random.some(world.slots)),
  async agree(world, _slot, random) {
    for (const link of random.some(['', ...linksIn(world, /(\/confirm\/[\w-]+)/)])) {
      const page = link === '' ? '' : await follow(link, 'GET')
      const action = /action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')
      if (action !== undefined) await follow(`${link}${action}`, 'POST')
    }
  },
  async refuse(world, _slot, random) {
    const [link] = random.shuffled(linksIn(world, /^List-Unsubscribe:\s*<https:\/\/[^/]*(.*)>/m))
    if (link !== undefined) await follow(`${link}${random.pick(['', '&wants=nothing'])}`, 'POST')
  },
  async rotate(_world, { key }) {
    key.rotating = key.rotating.then(async () => {
      key.secret = (await rotateKey(pool, key.id))?.secret ?? key.secret
    })
    await key.rotating
  },
  async plan({ slots }, { key }, random) {
    for (const slot of slots) slot.changes += slot.key === key ? 1 : 0
    const countries = random.pick([['NL' as const], ['NL' as const, 'BE' as const]])
    await updateKey(pool, key.id, { plan: { countries, quota: random.pick([null, 100_000]) } })
  },
  async dismiss({ slots }, { key }, random) {
    if (key.state !== 'lives') return
    key.state = 'ends'
    await random.pick([deleteKey, revokeKey])(pool, key.id)
    key.state = 'gone'
    for (const slot of slots) if (slot.key === key) end(slot)
  },
  retry: () => retryAlerts(pool, null),
  async remove({ articles, removed }, _slot, random) {
    if (articles.length === 0) return
    const { id, title } = random.pick(articles)
    removed.add(title)
    const { rows } = await pool.query('select seq, id from articles where id = $1', [id])
    await removeArticles(pool, rows, 'model')
  },
  /** Its receiver says of some messages that it is gone, so that its alerts rest. */
  gone({ receiver }) {
    let left = 8
    receiver.fate.next = () => (left-- > 0 ? 410 : 200)
  },
  async kill(world) {
    world.kills++
    notifier = notifier.then(killed => killed.kill()).then(openNotifier)
    await notifier
    await pause(200)
    await pool.query(SEND)
  },
  async day(world) {
    const own = [world.slots.map(({ key }) => key.id)]
    for (const table of ['alert_asks', 'search_alerts'])
      await pool.query(
        `with own as materialized (select ctid from ${table} where key_id = any ($1) for update skip locked)
         update ${table} t set asked_at = asked_at - interval '1 day' from own where t.ctid = own.ctid`,
        own,
      )
    await forgetAsked(pool)
    await askUnasked(pool)
  },
}
const OF_SLOT = ['put', 'end', 'drop', 'change']
// The leases of the dead are over.
const SEND = `
  with own as materialized (
    select message_id from alert_messages where delivered_at is null and attempts > 0 for update skip locked)
  update alert_messages m set try_at = now() from own where m.message_id = own.message_id`

async function openNotifier() {
  const door = await openDoor(() => new URL(database))
  const env = { ...SETTINGS, DATABASE_URL: door.to(database), SMTP_URL }
  const config = readConfig(env)
  const running = await startNotifier({ config, log: createLogger('notifier', 'silent') })
  const stop = () => running.stop().finally(door.close)
  const kill = () => {
    door.shut()
    return stop()
  }
  return { stop, kill }
}
let notifier = openNotifier()
t.teardown(async () => (await notifier).stop())

// Time passes: alerts are due, and digests of one time need not wait for each other.
const PASS = `
  with own as materialized (
    select alert_id from search_alerts a where key_id = any ($1) and due_at > now() + interval '2 s'
       and not exists (select from alert_messages m where m.alert_id = a.alert_id and m.delivered_at is null)
     order by alert_id for update skip locked),
  messages as materialized (
    select message_id from alert_messages where delivered_at is null for update skip locked),
  aged as (
    update alert_messages m set created_at = created_at - interval '2 min' from messages where m.message_id = messages.message_id)
  update search_alerts a set due_at = now() from own where a.alert_id = own.alert_id`
const RESTLESS = `
  select count(*)::int from search_alerts, ingest_clock
   where key_id = any ($1) and rests is null and confirmed_at is not null and seq < last_seq`

async function openWorld(seed: number): Promise<World> {
  const keys = await Promise.all(
    [null, 100_000].map(async (quota): Promise<Key> => {
      const { key, secret } = await api.issue({ quota })
      return { id: key.id, secret, state: 'lives', rotating: Promise.resolve() }
    }),
  )
  const slots = keys.flatMap((key, k) =>
    [0, 1, 2, 3].map((at): Slot => {
      const empty = { id: '', name: '', to: null, since: 0, changes: 0, last: Promise.resolve() }
      return { key, word: `w${seed}k${k}s${at}`, ended: new Map(), ...empty }
    }),
  )
  const receiver = await startReceiver(t)
  const mailbox = `lezer${seed}@example.org`
  const random = createRandom(seed)
  return { slots, receiver, mailbox, random, articles: [], removed: new Set(), kills: 0 }
}

async function live(seed: number): Promise<void> {
  const world = await openWorld(seed)
  const { slots, random, receiver, mailbox } = world
  const ids = [...new Set(slots.map(({ key }) => key.id))]
  for (const { key } of [slots[0]!, slots[4]!])
    await ask(key, 'PUT', 'outlet-sets/krant', { domains: ['example.org'] })
  await Promise.all(
    slots.map(async (slot, at) => {
      await keep(slot)
      await put(slot, at % 2 ? `mailto:${mailbox}` : `${receiver.url}${slot.word}/0`, 'at once')
    }),
  )
  await until(() => linksIn(world, /(\/confirm\/)/).length > 0, 20_000)
  for (let step = 0; step < 4; step++) {
    // Few kinds at a time, so that each pair of them meets.
    const drawn = () => random.pick([...Object.keys(ACTS), 'refuse', 'refuse', 'retry', 'agree'])
    const few = [drawn(), drawn(), drawn()]
    const kinds = Array.from({ length: 3 + random.below(6) }, () => random.pick(few))
    const acting = kinds.map((kind, at) => {
      const slot = random.pick(slots)
      const own = createRandom(seed, `${step} ${at}`)
      const act = async () => ACTS[kind]!(world, slot, own)
      if (!OF_SLOT.includes(kind)) return act()
      slot.last = slot.last.then(() => (slot.key.state === 'gone' ? null : act()))
      return slot.last
    })
    const done = await Promise.allSettled(acting)
    for (const one of done)
      if (one.status === 'rejected') throw new Error(`${kinds}`, { cause: one.reason })
    await pool.query(PASS, [ids])
  }
  receiver.fate.next = () => 200
  await index(world, slots)
  const isQuiet = async () => {
    // A delivery that was on its way may still let an alert rest.
    await retryAlerts(pool, null)
    await pool.query(PASS, [ids])
    return (await countOf(pool, RESTLESS, [ids])) === 0
  }
  await until(isQuiet, 60_000, 'something is not told')
  await checkKept(world)
  checkTold(world)
  for (const id of ids) await deleteKey(pool, id)
}

/** The key has what answers said, and the API has told each alert all that came since. */
async function checkKept({ slots, receiver, articles, removed }: World): Promise<void> {
  for (const slot of slots.filter(({ key }) => key.state === 'lives')) {
    const { data } = (await ask(slot.key, 'GET', 'searches')).json
    const found = data.find(({ id }: { id: string }) => id === slot.id)
    const isKept = found?.name === slot.name && (found.alert?.to ?? null) === slot.to
    hold(isKept, () => `${slot.word} is ${JSON.stringify(found)}, not at ${slot.to}`)
    const isMail = slot.to?.startsWith('mailto:') === true
    const state = found.alert?.state ?? null
    hold(slot.to === null || isMail || state === 'on', () => JSON.stringify(found))
    const hooked = receiver.received.filter(({ status }) => status === 200)
    const told = new Set(hooked.flatMap(({ json }) => json.articles.map(({ title }) => title)))
    const own = articles.filter(({ word, title }) => word === slot.word && !removed.has(title))
    const due = own.filter(({ number }) => number > (isMail ? newest - slots.length : slot.since))
    for (const { title } of state === 'on' ? due : [])
      hold(
        isMail ? mails.some(mail => mail.includes(`${title}<`)) : told.has(title),
        () => `${title} is lost`,
      )
    const isTold = isMail && due.some(({ title }) => mails.some(mail => mail.includes(`${title}<`)))
    hold(state === 'on' || !isTold, () => `${slot.word} is ${state}, and was mailed`)
  }
}

/** Nobody is told after the end, and nothing is told twice. */
function checkTold({ slots, receiver, mailbox, articles, kills }: World): void {
  const told = new Map<string, string[]>()
  const note = (place: string, title: string, id: string) => {
    const article = articles.find(one => one.title === title)!
    const { ended, changes } = slots.find(({ word }) => word === article.word)!
    const isLate = article.number > (ended.get(place) ?? Infinity)
    hold(!isLate || place.startsWith('mailto:'), () => `${title} came to ${place} after its end`)
    const ids = [...(told.get(`${place} ${title}`) ?? []), id]
    told.set(`${place} ${title}`, ids)
    const different = new Set(ids).size
    hold(different <= 1 + changes, () => `${title} came to ${place} as ${ids}`)
    hold(different === ids.length || kills > 0 || everKilled, () => `${id} came twice to ${place}`)
  }
  for (const { path, json, status } of receiver.received)
    for (const { title } of status === 200 ? json.articles : [])
      note(`${receiver.url}${path.slice(1)}`, title, json.id)
  for (const mail of mails.filter(mail => mail.includes(mailbox)))
    for (const { title } of articles)
      if (mail.includes(`${title}<`))
        note(`mailto:${mailbox}`, title, /^Message-ID: (.*)/im.exec(mail)![1]!)
}

/** Histories share a notifier. */
let everKilled = false

t.test(
  'what keys keep and tell is what a naive model says, whoever changes it beside whom',
  async t => {
    const { SEED, RUNS = '40' } = process.env
    let seed = Number(SEED ?? Date.now() % 1_000_000)
    const end = seed + (SEED === undefined || process.env.RUNS ? Number(RUNS) : 1)
    everKilled = end - seed > 1
    const lane = async () => {
      while (seed < end) {
        const own = seed++
        const why = await live(own).then(
          () => null,
          error => error,
        )
        t.equal(why, null, `seed ${own}: ${why?.message} ${why?.cause ?? ''}`)
      }
    }
    await Promise.all([lane(), lane(), lane(), lane()])
    const deadlocks =
      'select deadlocks::int from pg_stat_database where datname = current_database()'
    t.equal(await countOf(pool, deadlocks), 0)
  },
)
