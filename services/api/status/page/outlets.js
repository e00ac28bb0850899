// The outlets, those in trouble first (the server has sorted them); found by name, chosen by health, a page at a time.
import { ago, h, number, plural, span } from './elements.js'

const PAGE = 20
const KINDS = ['all', 'failing', 'silent', 'healthy']

/** Keeps what the reader has chosen while the figures change. */
export function outletList(place, filters, search) {
  let chosen = 'all'
  let shown = PAGE
  let last = null

  const draw = () => {
    const { outlets, at } = last
    if (outlets === null) return place.replaceChildren(h('p', { class: 'quiet' }, 'Could not be read.'))
    const now = Date.parse(at)
    const word = search.value.trim().toLowerCase()
    const found = outlets.filter(
      outlet =>
        (chosen === 'all' || outlet.health === chosen) &&
        `${outlet.name} ${outlet.domain}`.toLowerCase().includes(word),
    )
    const rows = found.slice(0, shown).map(outlet => row(outlet, now))
    const body = h('tbody', null, ...rows)
    const more = found.length - rows.length
    const button = h(
      'button',
      { type: 'button', class: 'more' },
      `Show ${Math.min(more, PAGE * 2)} more of ${number(more)}`,
    )
    button.addEventListener('click', () => {
      shown += PAGE * 2
      draw()
    })
    place.replaceChildren(
      found.length === 0
        ? h(
            'p',
            { class: 'quiet' },
            outlets.length === 0
              ? 'There are no outlets: `npm run outlets -- sync FILE` brings them.'
              : 'No outlet is like that.',
          )
        : h('table', { class: 'outlet-table' }, head(), body),
      ...(more > 0 ? [button] : []),
    )
  }
  const drawFilters = () => {
    filters.replaceChildren(
      ...KINDS.map(kind => {
        const count = kind === 'all' ? last.outlets.length : last.outlets.filter(({ health }) => health === kind).length
        const button = h(
          'button',
          { type: 'button', class: `chip ${kind}`, 'aria-pressed': String(kind === chosen) },
          `${kind} `,
          h('b', null, number(count)),
        )
        button.addEventListener('click', () => {
          chosen = kind
          shown = PAGE
          drawFilters()
          draw()
          filters.children[KINDS.indexOf(kind)].focus()
        })
        return button
      }),
    )
  }
  search.addEventListener('input', () => {
    shown = PAGE
    if (last) draw()
  })
  return figures => {
    const focused = [...filters.children].indexOf(document.activeElement)
    last = figures
    if (figures.outlets) drawFilters()
    if (focused >= 0) filters.children[focused]?.focus()
    draw()
  }
}

const head = () =>
  h(
    'thead',
    null,
    h(
      'tr',
      null,
      ...['Outlet', 'Last new article', 'Last read', 'Usual rhythm', 'OutageLog'].map(title =>
        h('th', { scope: 'col' }, title),
      ),
    ),
  )

function row(outlet, now) {
  const { name, domain, country, health, lastNew, lastSuccess, rhythm } = outlet
  const cell = (label, kind, ...content) => h('td', { 'data-label': label, class: kind }, ...content)
  return h(
    'tr',
    { class: health },
    h(
      'th',
      { scope: 'row' },
      h('span', { class: 'health' }, health),
      h('span', { class: 'outlet-name' }, name),
      h('span', { class: 'quiet' }, `${domain} · ${country}`),
    ),
    cell('Last new article', health === 'silent' ? 'number loud' : 'number', ago(lastNew, now)),
    cell('Last read', health === 'failing' ? 'number loud' : 'number', ago(lastSuccess, now)),
    cell('Usual rhythm', 'number', rhythm === null ? 'not known' : `every ${span(rhythm / 1_000)}`),
    cell('OutageLog', 'trouble', troubleOf(outlet) || h('span', { class: 'quiet' }, 'none')),
  )
}

function troubleOf({ feeds, failingFeeds, failures, error, blocks, putOff, late, restsUntil }) {
  const failing =
    failingFeeds > 0 ? `${failingFeeds} of ${plural(feeds, 'feed')} failing, ${failures} in a row: ${error}` : ''
  const kept = blocks.map(({ kind, pages }) => `${kind} ${number(pages)}×`).join(', ')
  const slow = late > 0 ? `${plural(late, 'page')} late${restsUntil === null ? '' : ', rests'}` : ''
  const later = putOff > 0 ? `${plural(putOff, 'page')} on new hosts put off` : ''
  return [failing, kept, slow, later].filter(Boolean).join('; ')
}
