// Reads the figures every three seconds while somebody looks, and shows them. Nothing is sent anywhere but here.
import { ago, h, number, plural, span } from './elements.js'
import { drawFlow, onTurn } from './flow.js'
import { drawLag } from './lag.js'
import { outletList } from './outlets.js'

const EVERY = 3_000
const PATIENCE = 10_000

const place = id => document.getElementById(id)
// Without the name and password that may stand in the address: fetch refuses them, and the browser sends them by itself.
const source = new URL('status/figures', location.origin + location.pathname)
const drawOutlets = outletList(place('outlets'), place('filters'), place('search'))

let last = null
let readAt = 0
let trouble = null

async function read() {
  try {
    const response = await fetch(source, { signal: AbortSignal.timeout(PATIENCE), credentials: 'same-origin' })
    if (!response.ok) throw new Error(`The API answers ${response.status}.`)
    last = await response.json()
    readAt = Date.now()
    trouble = null
    show(last)
  } catch (error) {
    trouble = error instanceof TypeError || error.name === 'TimeoutError' ? 'The API does not answer.' : error.message
  }
  showState()
}

function show(figures) {
  document.title = `${figures.service} status`
  place('service').textContent = figures.service
  drawFlow(place('flow'), figures)
  drawLag(place('lag'), figures.lag)
  drawOutlets(figures)
  place('queues').replaceChildren(queues(figures))
  place('quarantine').replaceChildren(...quarantine(figures))
}

function showState() {
  const problems = trouble ? [{ level: 'bad', text: trouble }] : problemsOf(last)
  const bad = problems.some(({ level }) => level === 'bad')
  const verdict = place('verdict')
  verdict.className = `verdict ${bad ? 'bad' : problems.length > 0 ? 'warn' : 'good'}`
  const words = problems.length === 0 ? 'All is well' : `${plural(problems.length, 'thing')} to look at`
  if (verdict.textContent !== words) verdict.textContent = words
  place('problems').replaceChildren(...problems.map(({ level, text }) => h('li', { class: level }, text)))
  place('main').classList.toggle('stale', trouble !== null)
  tick()
}

function tick() {
  place('updated').textContent = readAt === 0 ? '' : `updated ${span(Math.round((Date.now() - readAt) / 1_000))} ago`
}

/** What an operator should look at, the worst first. */
function problemsOf({ at, flow, running, outlets, quarantine, missing, unread }) {
  const found = []
  const note = (level, condition, text) => condition && found.push({ level, text })
  note('bad', missing.includes('postgres'), 'The API does not reach its database.')
  const others = missing.filter(name => name !== 'postgres')
  note('warn', others.length > 0, `Search by meaning is out of order: no ${others.join(', no ')}.`)
  for (const name of ['crawler', 'normaliser', 'embedder']) {
    note('bad', running?.connections[name] === 0, `No ${name} is connected to the database.`)
  }
  if (flow) {
    const quiet = flow.newest === null ? 0 : (Date.parse(at) - Date.parse(flow.newest)) / 1_000
    note('warn', quiet > 3_600, `No article has come in for ${span(quiet)}.`)
    note('warn', flow.pages.oldest > 600, `A page has waited for the normaliser for ${span(flow.pages.oldest)}.`)
    note(
      'warn',
      flow.embeddings.oldest > 1_800,
      `Articles have waited for the embedder for ${span(flow.embeddings.oldest)}.`,
    )
  }
  const failing = outlets?.filter(({ health }) => health === 'failing').length ?? 0
  note('warn', failing > 0, `${plural(failing, 'outlet')} cannot be read.`)
  const ours = quarantine?.counts.filter(({ ours }) => ours).reduce((sum, { n }) => sum + n, 0) ?? 0
  note('warn', ours > 0, `${plural(ours, 'page or article', 'pages or articles')} in quarantine failed on our side.`)
  note('warn', unread.length > 0 && !missing.includes('postgres'), `Could not be read in time: ${unread.join(', ')}.`)
  return found.sort((a, b) => (a.level === b.level ? 0 : a.level === 'bad' ? -1 : 1))
}

const QUEUES = { visit: 'hosts to visit', normalise: 'pages to normalise', embed: 'articles to embed' }

function queues({ queues, board }) {
  if (queues === null) return h('p', { class: 'quiet' }, 'Could not be read.')
  const states = ['waiting', 'active', 'delayed', 'failed']
  return h(
    'div',
    null,
    h(
      'table',
      { class: 'figures' },
      h(
        'thead',
        null,
        h('tr', null, h('th', { scope: 'col' }, 'Queue'), ...states.map(state => h('th', { scope: 'col' }, state))),
      ),
      h(
        'tbody',
        null,
        ...Object.entries(queues).map(([name, counts]) =>
          h(
            'tr',
            null,
            h('th', { scope: 'row' }, name, h('span', { class: 'quiet' }, QUEUES[name] ?? '')),
            ...states.map(state => h('td', { class: counts[state] === 0 ? 'zero' : '' }, number(counts[state]))),
          ),
        ),
      ),
    ),
    board
      ? h('p', { class: 'quiet' }, h('a', { href: 'queues' }, 'Look into the queues'), ' (on Redis)')
      : h('p', { class: 'quiet' }, 'The queues are in Postgres.'),
  )
}

function quarantine({ quarantine, at }) {
  if (quarantine === null) return [h('p', { class: 'quiet' }, 'Could not be read.')]
  const { counts, newest } = quarantine
  if (counts.length === 0) return [h('p', { class: 'quiet' }, 'Empty: nothing has failed for good.')]
  const now = Date.parse(at)
  return [
    h(
      'ul',
      { class: 'counts' },
      ...counts.map(({ kind, reason, n, ours }) =>
        h(
          'li',
          { class: ours ? 'ours' : '' },
          h('b', null, number(n)),
          ` ${kind === 'page' ? `pages: ${reason}` : 'articles that cannot be embedded'}`,
        ),
      ),
    ),
    h(
      'ol',
      { class: 'newest' },
      ...newest
        .slice(0, 5)
        .map(({ id, what, reason, detail, since }) =>
          h(
            'li',
            null,
            h('span', { class: 'quiet' }, `${ago(since, now)} · ${id.startsWith('page') ? `${reason} · ` : ''}${id}`),
            h('span', { class: 'what' }, what),
            detail ? h('span', { class: 'quiet' }, detail) : null,
          ),
        ),
    ),
    h('p', { class: 'quiet' }, h('code', null, 'npm run queues -- retry --all'), ' gives all of it back.'),
  ]
}

onTurn(() => last && drawFlow(place('flow'), last))
addEventListener('resize', () => last && drawFlow(place('flow'), last))
setInterval(tick, 1_000)
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && void read())

for (;;) {
  if (document.visibilityState === 'visible') await read()
  await new Promise(resolve => setTimeout(resolve, EVERY))
}
