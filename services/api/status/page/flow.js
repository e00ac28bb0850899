// The way of an article as a picture: services are boxes with a light, stores are drums. From left to right, or on a
// narrow screen from top to bottom.
import { number, plural, s, span } from './elements.js'

const narrow = matchMedia('(max-width: 899px)')

export function drawFlow(place, figures) {
  const steps = stepsOf(figures)
  const width = narrow.matches ? Math.max(300, place.clientWidth) : 1180
  const picture = narrow.matches ? downwards(steps, width) : rightwards(steps, width)
  place.replaceChildren(picture)
}

export const onTurn = redraw => narrow.addEventListener('change', redraw)

function stepsOf({ flow, running, outlets, missing, lag }) {
  const hour = lag?.at(-1)
  const before = lag?.at(-2)
  const service = (name, state) => (running === null ? 'unknown' : running.connections[name] > 0 ? state : 'bad')
  const share = flow && flow.articles > 0 ? Math.floor((flow.embedded / flow.articles) * 100) : null
  return [
    {
      kind: 'service',
      name: 'Crawler',
      state: service('crawler', 'good'),
      value: running && number(running.visits),
      unit: running && (running.visits === 1 ? 'visit under way' : 'visits under way'),
      note: outlets && plural(outlets.length, 'outlet'),
      moves: running !== null && running.visits > 0,
    },
    {
      kind: 'store',
      name: 'Pages',
      value: flow && number(flow.pages.due),
      unit: 'to fetch now',
      note: flow && `${number(flow.pages.waiting - flow.pages.due)} later`,
      moves: flow !== null && flow.pages.stored > 0,
    },
    {
      kind: 'service',
      name: 'Normaliser',
      state: service('normaliser', flow && flow.pages.oldest > 600 ? 'warn' : 'good'),
      value: flow && number(flow.pages.stored),
      unit: 'in hand or next',
      note: flow && (flow.pages.stored > 0 ? `oldest ${span(flow.pages.oldest)}` : 'nothing waits'),
      moves: flow !== null && flow.pages.stored > 0,
    },
    {
      kind: 'store',
      name: 'Articles',
      value: flow && number(flow.articles),
      unit: 'indexed',
      note:
        flow && flow.index.backlog > BACKLOG
          ? `${number(flow.index.backlog)} without a segment`
          : twoHours(hour, before),
      moves: flow !== null && flow.embeddings.due > 0,
    },
    {
      kind: 'service',
      name: 'Embedder',
      state: service('embedder', flow && flow.embeddings.oldest > 1_800 ? 'warn' : 'good'),
      value: flow && number(flow.embeddings.due),
      unit: 'due now',
      note: flow && `${number(flow.embeddings.promised)} promised`,
      moves: flow !== null && flow.embeddings.due > 0,
    },
    {
      kind: 'store',
      name: 'Vectors',
      value: flow && number(flow.embedded),
      unit: 'embedded',
      note: share === null ? null : `${share} % of articles`,
      moves: running !== null && running.requests > 0,
    },
    {
      kind: 'service',
      name: 'API',
      state: missing.includes('postgres') ? 'bad' : missing.length > 0 ? 'warn' : 'good',
      value: running && number(running.requests),
      unit: 'requests this minute',
      note: running && plural(running.keys, 'key'),
      moves: false,
    },
  ]
}

/** New articles without a stored segment. More than four flushes' worth means that nobody makes segments. */
const BACKLOG = 32_768

const twoHours = (hour, before) => (hour && before ? `${number(hour.articles + before.articles)} in two hours` : null)

const WORDS = { good: 'running', warn: 'needs attention', bad: 'not there', unknown: 'not known' }

const summary = steps =>
  steps.map(
    ({ name, state, value, unit }) => `${name}${state ? `, ${WORDS[state]}` : ''}: ${value ?? '?'} ${unit ?? ''}`,
  )

const picture = (steps, width, height) =>
  s(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, class: 'flow', role: 'img', 'aria-label': summary(steps).join('; ') },
    s(
      'defs',
      null,
      s(
        'marker',
        { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' },
        s('path', { d: 'M0 0 8 4 0 8z', class: 'tip' }),
      ),
    ),
  )

function rightwards(steps, width) {
  const [box, gap, height, top] = [142, 31, 132, 6]
  const svg = picture(steps, width, height + top * 2)
  for (const [index, step] of steps.entries()) {
    const x = index * (box + gap)
    const middle = x + box / 2
    const group = s('g', { class: `step ${step.kind} ${step.state ?? ''}` }, ...outline(step, x, top, box, height))
    const text = (y, words, kind) =>
      words === null ? null : s('text', { x: middle, y: top + y, class: kind, 'text-anchor': 'middle' }, words)
    group.append(
      ...[
        text(33, step.name, 'name'),
        text(74, step.value ?? '–', 'value'),
        text(95, step.unit, 'unit'),
        text(115, step.note, 'note'),
      ].filter(line => line !== null),
    )
    svg.append(group)
    if (index > 0) svg.append(arrow(x - gap + 3, top + height / 2, x - 4, top + height / 2, steps[index - 1].moves))
  }
  return svg
}

function downwards(steps, width) {
  const [height, gap, top] = [68, 24, 4]
  const svg = picture(steps, width, steps.length * (height + gap) - gap + top * 2)
  for (const [index, step] of steps.entries()) {
    const y = top + index * (height + gap)
    const low = step.kind === 'store' ? 4 : 0 // below the drum's rim
    const text = (x, down, words, kind, anchor = 'start') =>
      words === null ? null : s('text', { x, y: y + down + low, class: kind, 'text-anchor': anchor }, words)
    const group = s('g', { class: `step ${step.kind} ${step.state ?? ''}` }, ...outline(step, 1, y, width - 2, height))
    group.append(
      ...[
        text(step.kind === 'service' ? 36 : 20, 31, step.name, 'name'),
        text(step.kind === 'service' ? 36 : 20, 52, step.note, 'note'),
        text(width - 18, 34, step.value ?? '–', 'value', 'end'),
        text(width - 18, 54, step.unit, 'unit', 'end'),
      ].filter(line => line !== null),
    )
    svg.append(group)
    if (index > 0) svg.append(arrow(width / 2, y - gap + 3, width / 2, y - 4, steps[index - 1].moves))
  }
  return svg
}

function outline(step, x, y, width, height) {
  if (step.kind === 'service') {
    return [
      s('rect', { x, y, width, height, rx: 12, class: 'shape' }),
      s(
        'circle',
        { cx: x + 18, cy: y + (height > 100 ? 18 : 26), r: 5, class: 'light' },
        s('title', null, WORDS[step.state]),
      ),
    ]
  }
  // A drum: round at its ends.
  const [rx, ry] = [width / 2, height > 100 ? 9 : 6]
  const body = `M${x} ${y + ry}a${rx} ${ry} 0 0 1 ${width} 0v${height - 2 * ry}a${rx} ${ry} 0 0 1 ${-width} 0z`
  return [
    s('path', { d: body, class: 'shape' }),
    s('path', { d: `M${x} ${y + ry}a${rx} ${ry} 0 0 0 ${width} 0`, class: 'rim' }),
  ]
}

const arrow = (x1, y1, x2, y2, moves) =>
  s('line', { x1, y1, x2, y2, class: moves ? 'arrow moves' : 'arrow', 'marker-end': 'url(#tip)' })
