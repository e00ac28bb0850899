import { escapeMarkup } from '../markup.ts'
import type { SampleOutlet } from '../outlet.ts'
import { framePage, type Sections } from './frame.ts'
import { PHRASES } from './phrases.ts'

/** A consent page instead of the article, with status 200, as real ones have. */
export function consentPage(outlet: SampleOutlet): string {
  const phrases = PHRASES[outlet.languages[0]]
  return `<!DOCTYPE html>
<html lang="${outlet.languages[0]}">
<head><meta charset="utf-8"><title>${escapeMarkup(phrases.consentTitle)} | ${escapeMarkup(outlet.name)}</title>
<meta name="robots" content="noindex"><link rel="stylesheet" href="/style.css"></head>
<body><main class="cookie-consent"><h1>${escapeMarkup(phrases.consentTitle)}</h1>
${phrases.consent.map(paragraph => `<p>${escapeMarkup(paragraph)}</p>`).join('\n')}
<form method="post"><button name="choice" value="all">${escapeMarkup(phrases.accept)}</button></form></main></body>
</html>
`
}

/** A page that only says that it does not exist. */
export function refusalPage(
  outlet: SampleOutlet,
  sections: Sections,
  kind: 'notFound' | 'forbidden' | 'failed',
): string {
  const message = PHRASES[outlet.languages[0]][kind]
  return framePage(outlet, sections, {
    title: `${outlet.name}`,
    head: '<meta name="robots" content="noindex">',
    main: `<main><h1>${escapeMarkup(message)}</h1></main>`,
    language: outlet.languages[0],
  })
}
