import { inWords, withOffset } from '../dates.ts'
import { escapeMarkup } from '../markup.ts'
import type { SampleOutlet } from '../outlet.ts'
import { isLanguage, type SampleText, summaryOf } from '../texts.ts'
import { framePage, type Sections } from './frame.ts'
import { metadataOf } from './metadata.ts'
import { byLine, PHRASES, type Phrases } from './phrases.ts'

export interface Surroundings {
  origin: string
  sections: Sections
  /** Other articles of the outlet, for the box in the middle of the text. */
  related: SampleText[]
}

/** The page of an article, with everything that a real site puts around it. */
export function articlePage(outlet: SampleOutlet, text: SampleText, around: Surroundings): string {
  const phrases = PHRASES[isLanguage(text.language) ? text.language : outlet.languages[0]]
  return framePage(outlet, around.sections, {
    title: `${text.title} | ${outlet.name}`,
    head: metadataOf(outlet, text, around.origin),
    main: mainOf(outlet, text, around, phrases),
    language: outlet.pageLanguage?.(text) ?? null,
  })
}

function mainOf(outlet: SampleOutlet, text: SampleText, around: Surroundings, phrases: Phrases): string {
  if (outlet.metadata === 'none') return bareMain(outlet, text, around, phrases)
  if (outlet.metadata === 'microdata') return microdataMain(outlet, text, around, phrases)
  return `<main><article>
<p class="meta">${escapeMarkup(text.section)}</p>
<h1>${escapeMarkup(text.title)}</h1>
<p class="meta">${bySpan(text, phrases)}<time datetime="${withOffset(text.publishedAt, outlet.timeZone)}">${dateLine(outlet, text)}</time></p>
${picture(text, phrases)}
<div class="article-body">
${bodyOf(outlet, text, around, phrases)}
</div>
${share(phrases)}
</article>
${comments(outlet, text, phrases)}</main>`
}

function microdataMain(outlet: SampleOutlet, text: SampleText, around: Surroundings, phrases: Phrases): string {
  const authors = text.authors.map(
    name =>
      `<span itemprop="author" itemscope itemtype="https://schema.org/Person"><span itemprop="name">${escapeMarkup(name)}</span></span>`,
  )
  return `<main><article itemscope itemtype="https://schema.org/NewsArticle">
<h1 itemprop="headline">${escapeMarkup(text.title)}</h1>
<p class="meta">${authors.join(', ')} <meta itemprop="datePublished" content="${withOffset(text.publishedAt, outlet.timeZone)}">${dateLine(outlet, text)}</p>
${picture(text, phrases)}
<div itemprop="articleBody">
${bodyOf(outlet, text, around, phrases)}
</div>
${share(phrases)}
</article>
${comments(outlet, text, phrases)}</main>`
}

/** A page without metadata: title, by-line and date are text. */
function bareMain(outlet: SampleOutlet, text: SampleText, around: Surroundings, phrases: Phrases): string {
  const by = byLine(text.authors, phrases)
  return `<div id="content">
<h1>${escapeMarkup(text.title)}</h1>
${by ? `<p class="byline">${escapeMarkup(by)}</p>\n` : ''}<p class="date">${dateLine(outlet, text)}</p>
${bodyOf(outlet, text, around, phrases)}
</div>
${comments(outlet, text, phrases)}`
}

function bySpan(text: SampleText, phrases: Phrases): string {
  const by = byLine(text.authors, phrases)
  return by ? `<span class="byline">${escapeMarkup(by)}</span> · ` : ''
}

function dateLine(outlet: SampleOutlet, text: SampleText): string {
  const language = isLanguage(text.language) ? text.language : outlet.languages[0]
  return escapeMarkup(inWords(text.publishedAt, outlet.timeZone, language))
}

function picture(text: SampleText, phrases: Phrases): string {
  return `<figure><img src="/pictures/${text.number}.svg" alt="" width="640" height="300"><figcaption>${escapeMarkup(phrases.photo)}</figcaption></figure>`
}

/** The paragraphs, with a box of related articles after the second one. */
function bodyOf(outlet: SampleOutlet, text: SampleText, around: Surroundings, phrases: Phrases): string {
  if (text.answer === 'paywall') return teaser(text, phrases)
  const [first = '', second = '', ...rest] = text.paragraphs.map(paragraph => escapeMarkup(paragraph))
  return [
    `<p class="intro">${first}</p>`,
    `<p>${second}</p>`,
    related(outlet, around.related, phrases),
    ...rest.map(paragraph => `<p>${paragraph}</p>`),
  ].join('\n')
}

function teaser(text: SampleText, phrases: Phrases): string {
  const start = summaryOf(text)
    .slice(0, 120)
    .replace(/\s+\S*$/, '')
  return `<p class="intro">${escapeMarkup(start)}…</p>
<div class="paywall"><p>${escapeMarkup(phrases.paywall)}</p><button>${escapeMarkup(phrases.subscribe)}</button></div>`
}

function related(outlet: SampleOutlet, texts: SampleText[], phrases: Phrases): string {
  const links = texts.map(text => `<a href="${escapeMarkup(outlet.address(text))}">${escapeMarkup(text.title)}</a>`)
  return outlet.metadata === 'none'
    ? `<p><b>${escapeMarkup(phrases.readAlso)}:</b> ${links[0] ?? ''}</p>`
    : `<aside class="related"><h3>${escapeMarkup(phrases.readAlso)}</h3><ul>${links.map(link => `<li>${link}</li>`).join('')}</ul></aside>`
}

function share(phrases: Phrases): string {
  return `<div class="share"><p>${escapeMarkup(phrases.share)}</p><ul><li><a href="#">E-mail</a></li><li><a href="#">Mastodon</a></li></ul></div>`
}

/** Readers' comments, with dates that are not the article's. */
function comments(outlet: SampleOutlet, text: SampleText, phrases: Phrases): string {
  const items = phrases.reactions.map(([name, hours, words]) => {
    const written = new Date(text.publishedAt.getTime() + Number(hours) * 3_600_000)
    return `<div class="comment"><small>${escapeMarkup(name)}, ${withOffset(written, outlet.timeZone).slice(0, 16).replace('T', ' ')}</small><p>${escapeMarkup(words)}</p></div>`
  })
  return `<section class="comments"><h2>${escapeMarkup(phrases.comments)} (${items.length})</h2>${items.join('')}</section>`
}

/** The AMP variant: the same text with nothing around it, and a canonical link to the article. */
export function ampPage(outlet: SampleOutlet, text: SampleText, around: Surroundings): string {
  return `<!DOCTYPE html>
<html amp lang="${text.language}">
<head><meta charset="utf-8"><title>${escapeMarkup(text.title)}</title>
${metadataOf({ ...outlet, amp: false }, text, around.origin)}
</head>
<body><article><h1>${escapeMarkup(text.title)}</h1>
${text.paragraphs.map(paragraph => `<p>${escapeMarkup(paragraph)}</p>`).join('\n')}
</article></body>
</html>
`
}
