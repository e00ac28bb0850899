import { escapeMarkup } from '../markup.ts'
import type { SampleOutlet } from '../outlet.ts'
import { PHRASES, type Phrases } from './phrases.ts'

export interface Frame {
  title: string
  head: string
  /** HTML inside `<body>`, between the site's navigation and its footer. */
  main: string
  language: string | null
}

/** The sections of the outlet, in the order of their newest article. */
export type Sections = readonly string[]

export function sectionId(section: string): string {
  return section.toLowerCase().replace(/\s+/g, '-')
}

/** The whole page: head, masthead, navigation, main, newsletter, footer. */
export function framePage(outlet: SampleOutlet, sections: Sections, frame: Frame): string {
  const phrases = PHRASES[outlet.languages[0]]
  const old = outlet.metadata === 'none'
  return `<!DOCTYPE html>
<html${frame.language ? ` lang="${frame.language}"` : ''}>
<head>
${charsetMeta(outlet)}<title>${escapeMarkup(frame.title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${frame.head}
<link rel="stylesheet" href="/style.css">
</head>
<body>
${old ? oldHeader(outlet, sections) : header(outlet, sections)}
${frame.main}
${old ? oldFooter(outlet, phrases) : footer(outlet, phrases)}
</body>
</html>
`
}

function charsetMeta(outlet: SampleOutlet): string {
  const { meta } = outlet.charset
  if (!meta) return ''
  const old = outlet.metadata === 'none'
  return old ? `<meta http-equiv="Content-Type" content="text/html; charset=${meta}">\n` : `<meta charset="${meta}">\n`
}

function sectionLinks(sections: Sections): string[] {
  return sections.map(section => `<a href="/#${sectionId(section)}">${escapeMarkup(section)}</a>`)
}

function header(outlet: SampleOutlet, sections: Sections): string {
  const items = sectionLinks(sections).map(link => `<li>${link}</li>`)
  return `<header class="masthead"><a href="/">${escapeMarkup(outlet.name)}</a><p>${escapeMarkup(outlet.motto)}</p></header>
<nav><ul>${items.join('')}</ul></nav>`
}

/** A layout of tables, from the time before style sheets. */
function oldHeader(outlet: SampleOutlet, sections: Sections): string {
  return `<table width="100%" bgcolor="${outlet.colour}"><tr><td class="masthead"><a href="/">${escapeMarkup(outlet.name)}</a>
<p>${escapeMarkup(outlet.motto)}</p></td></tr></table>
<p class="menu">${sectionLinks(sections).join(' | ')}</p>`
}

function footer(outlet: SampleOutlet, phrases: Phrases): string {
  return `<form class="newsletter" action="/" method="get"><p>${escapeMarkup(phrases.newsletter)}</p>
<input type="email" name="mail"> <button>${escapeMarkup(phrases.subscribe)}</button></form>
<footer><p>${escapeMarkup(phrases.footer)}</p><p>© 2026 ${escapeMarkup(outlet.name)}. ${escapeMarkup(phrases.fictional)}</p></footer>
<div class="cookie-bar"><p>${escapeMarkup(phrases.cookies)} <button>${escapeMarkup(phrases.accept)}</button></p></div>`
}

function oldFooter(outlet: SampleOutlet, phrases: Phrases): string {
  return `<hr><p class="footer"><small>${escapeMarkup(phrases.footer)}<br>
&copy; 2026 ${escapeMarkup(outlet.name)}. ${escapeMarkup(phrases.fictional)}</small></p>`
}
