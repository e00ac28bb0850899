import { snippetText } from '#shared/articles/article'
import { type Alert, isDigest } from '#shared/desk/alerts/alerts'
import { type AskedAbout, invitedName, invitedSearch } from '#shared/desk/alerts/consent'
import { foreign, isolated, letterOf, straight } from '#shared/desk/alerts/look'
import { type AlertSpeech, alertSpeech } from '#shared/desk/alerts/words'
import { pageOf } from '#shared/desk/searches'
import { escapeMarkup } from '#shared/encoding/markup'
import type { Section, ToldArticle } from './message.ts'

/** The content of a mail. */
export interface Letter {
  subject: string
  text: string
  html: string
}

/** The addresses to which a mail leads. */
export interface LetterLinks {
  /** The address of the API as its clients write it. */
  base: string
  /** Ends the alerts of these sections. */
  ending(sections: readonly Section[]): string
}

/** A mail in both of its forms, as it is made. */
interface Draft {
  text: string[]
  html: string[]
}

/**
 * The mail that tells what is new to one search, or to several of one key whose time is the same.
 * Articles are texts of others: they are escaped, and so is the direction of their letters.
 */
export function letter(sections: readonly Section[], service: string, links: LetterLinks): Letter {
  const [first] = sections
  const speech = alertSpeech(first!.alert.language)
  const { words, say } = speech
  const isOne = sections.length === 1
  const [zone = '', another] = new Set(sections.map(section => zoneOf(section, speech)))
  const isZoneAbove = !isOne && another === undefined
  const draft: Draft = { text: [], html: [] }
  if (!isOne) {
    const title = say(words.several, sections.length)
    draft.text.push(isZoneAbove ? `${title}\n${zone}` : title)
    draft.html.push(`<h1>${title}</h1>`)
    if (isZoneAbove) draft.html.push(`<p class="soft">${escapeMarkup(zone)}</p>`)
  }
  for (const section of sections)
    addSection(draft, section, speech, links, isOne ? 1 : 2, isZoneAbove)
  const end = isOne ? words.end : words.endAll
  const address = links.ending(sections)
  draft.text.push(words.why, `${say(words.leads, end)}\n${address}`)
  draft.html.push(
    `<footer class="soft"><p>${words.why}</p><p><a href="${escapeMarkup(address)}">${end}</a></p></footer>`,
  )
  const subject = isOne ? subjectOf(first!, speech) : subjectOfSeveral(sections, speech)
  return finished(draft, subject, speech, service)
}

function addSection(
  { text, html }: Draft,
  section: Section,
  speech: AlertSpeech,
  { base, ending }: LetterLinks,
  level: 1 | 2,
  isZoneAbove: boolean,
): void {
  const { words, say } = speech
  const { alert, message, query } = section
  const { id, name } = message.search
  const page = pageOf(base, query, id)
  const settings = `${base}/searches?search=${id}`
  const about =
    message.type === 'test'
      ? words.test
      : message.removals !== undefined
        ? `${say(words.removed, message.removals.length)} ${words.forget}`
        : [countOf(section, speech), ...(isZoneAbove ? [] : [zoneOf(section, speech)])].join(' · ')
  text.push(`${isolated(name)}\n${about}`)
  html.push(
    `<section><h${level} class="search">${foreign(name)}</h${level}><p class="soft">${escapeMarkup(about)}</p>`,
  )
  for (const article of message.articles) {
    const meta = metaOf(article, alert.zone, speech)
    const { title, url } = article
    const snippet = article.snippet && snippetText(article.snippet)
    const also = alsoOf(article, section, speech)
    const parts = [...[title, meta.join(' · '), snippet ?? ''].map(isolated), also(isolated)]
    text.push([...parts.filter(one => one !== ''), url].join('\n'))
    html.push(
      `<article><h${level + 1}><a href="${escapeMarkup(url)}">${foreign(title)}</a></h${level + 1}>` +
        `<p class="soft">${meta.map(foreign).join(' · ')}</p>` +
        `${snippet === null ? '' : `<p dir="auto">${straight(snippet)}</p>`}` +
        `${also(foreign) === '' ? '' : `<p class="soft">${also(foreign)}</p>`}</article>`,
    )
  }
  for (const { id, removed_at } of message.removals ?? []) {
    text.push(`${id}\n${removed_at}`)
    html.push(`<p>${escapeMarkup(id)} · ${removed_at}</p>`)
  }
  const rest =
    message.more === 0 ? [] : isDigest(alert.when) ? [say(words.more, message.more)] : [words.next]
  const ends: [string, string][] = level === 1 ? [] : [[words.end, ending([section])]]
  const more: [string, string][] = [[words.open, page], [words.settings, settings], ...ends]
  text.push(
    [...rest, ...more.map(([said, address]) => `${say(words.leads, said)}\n${address}`)].join('\n'),
  )
  const anchors = more.map(([said, address]) => `<a href="${escapeMarkup(address)}">${said}</a>`)
  html.push(`<p class="links">${[...rest, anchors.join(' · ')].join(' ')}</p></section>`)
}

const zoneOf = ({ alert }: Section, { words, say }: AlertSpeech): string =>
  say(words.times, alert.zone)

const metaOf = (
  { outlet, published_at }: ToldArticle,
  zone: string,
  { moment }: AlertSpeech,
): string[] =>
  [
    outlet.name ?? outlet.domain ?? '',
    published_at === null ? '' : moment(published_at, zone),
  ].filter(one => one !== '')

/**
 * The line that names the other outlets with most of the text of an article; empty: there are none.
 * A mail tells each text once, so it would not name them otherwise.
 */
function alsoOf({ id }: ToldArticle, { also }: Section, { words, say }: AlertSpeech) {
  const others = also?.get(id) ?? []
  return (written: (name: string) => string): string =>
    others.length === 0 ? '' : say(words.also, namesOf(others.map(written), { words, say }))
}

/** How many articles are new, and how many texts where they are fewer, as the page counts them. */
function countOf({ alert, message, found }: Section, { words, say }: AlertSpeech): string {
  const texts = message.articles.length + (isDigest(alert.when) ? message.more : 0)
  const articles = Math.max(found ?? texts, texts)
  return articles === texts
    ? say(words.articles, articles)
    : `${say(words.articles, articles)} (${say(words.texts, texts)})`
}

function subjectOf(section: Section, speech: AlertSpeech): string {
  const { search, type, removals } = section.message
  const what =
    removals !== undefined
      ? speech.say(speech.words.removed, removals.length)
      : type === 'test'
        ? speech.words.test
        : countOf(section, speech)
  return `${speech.say(speech.words.leads, isolated(search.name))} ${what}`
}

function subjectOfSeveral(sections: readonly Section[], speech: AlertSpeech): string {
  const { words, say } = speech
  const names = sections.map(({ message }) => isolated(message.search.name))
  return `${say(words.leads, say(words.several, sections.length))} ${namesOf(names, speech)}`
}

/** As many names as a line holds. */
const NAMED = 3

/** The first names, and how many more there are. */
function namesOf(names: readonly string[], { words, say }: Pick<AlertSpeech, 'words' | 'say'>) {
  const more = names.length - NAMED
  const first = names.slice(0, NAMED).join(', ')
  return more > 0 ? `${first} ${say(words.andMore, more)}` : first
}

/**
 * The mail that asks for consent. Its reader has asked for nothing, so no text of the asker leads
 * anywhere.
 *
 * @param asked the searches, and when each would write
 */
export function invitation(
  asked: readonly AskedAbout[],
  language: Alert['language'],
  service: string,
  links: { agree: string; refuse: string },
): Letter {
  const speech = alertSpeech(language)
  const { words, say } = speech
  const about = asked.map(one => [...invitedSearch(one), speech.times(one)])
  // Nothing writes more often than at once.
  const isMost = asked.every(({ when }) => when === 'at once')
  const howTo = isMost ? words.howTo : `${words.howTo} ${words.oftener}`
  const text = [
    say(words.asks, isolated(service)),
    about.map(parts => `- ${parts.map(isolated).join(' · ')}`).join('\n'),
    howTo,
    `${say(words.leads, words.agree)}\n${links.agree}`,
    `${say(words.leads, words.refuseAll)}\n${links.refuse}`,
  ]
  const list = about.map(parts => `<li>${parts.map(foreign).join(' · ')}</li>`).join('')
  const html = [
    `<p>${say(words.asks, foreign(service))}</p><ul>${list}</ul><p>${howTo}</p>`,
    `<p><a class="button" href="${escapeMarkup(links.agree)}">${words.agree}</a></p>`,
    `<p><a href="${escapeMarkup(links.refuse)}">${words.refuseAll}</a></p>`,
  ]
  const first = isolated(invitedName(asked[0]?.name ?? ''))
  const more = asked.length > 1 ? ` ${say(words.andMore, asked.length - 1)}` : ''
  return finished(
    { text, html },
    `${say(words.leads, `${first}${more}`)} ${words.doYouWant}`,
    speech,
    service,
  )
}

const finished = (
  { text, html }: Draft,
  subject: string,
  { language }: AlertSpeech,
  service: string,
): Letter => ({
  subject: [...subject.replace(/\s+/g, ' ')].slice(0, 200).join(''),
  text: `${text.join('\n\n')}\n`,
  html: letterOf(language, service, subject, html.join('\n')),
})
