import { hash } from 'node:crypto'
import type { Language } from '#shared/articles/article'
import { documentOf, escapeMarkup } from '#shared/encoding/markup'

/*
 * Mails of alerts and the pages behind their links look alike, and like the other pages
 * (web/parts/base.css). They load nothing. Mail programs may drop the style, so the elements alone
 * must read well.
 */

const STYLE = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:24px 16px;background:#fbfaf7;color:#1b1d1f;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{display:block;max-width:600px;margin:0 auto}
h1,h2,h3{margin:0;font-weight:600;font-size:17px;line-height:1.35}
h1,.search{font:500 27px/1.2 Georgia,serif}h2.search{font-size:21px}
section{margin-top:32px}section+section{padding-top:28px;border-top:1px solid #dedad0}
p{margin:4px 0 0}.service{margin:0 0 24px;font:500 20px/1.2 Georgia,serif}
.soft{color:#565b60;font-size:14px}article,form,ul,ul+p,.links{margin:20px 0 0}li form{margin:4px 0 16px}ul{padding-left:20px}
a{color:#0f5a63}footer{margin-top:32px;padding-top:12px;border-top:1px solid #dedad0}
button,.button{display:inline-block;padding:9px 16px;border:0;border-radius:6px;background:#0f5a63;color:#fff;font:600 16px/1.35 system-ui,sans-serif;text-decoration:none;white-space:normal;text-align:left}
button.other{background:none;color:#0f5a63;box-shadow:inset 0 0 0 1px}
@media (prefers-color-scheme:dark){body{background:#14171a;color:#e9e7e1}.soft{color:#a9adb0}a{color:#7fccd2}
section+section,footer{border-color:#30363b}button,.button{background:#7fccd2;color:#0b2327}button.other{background:none;color:#7fccd2}}`

/** What a content security policy allows: this style alone. */
export const STYLE_SOURCE: string = `'sha256-${hash('sha256', STYLE, 'base64')}'`

/** @param body HTML */
export const letterOf = (
  language: Language,
  service: string,
  title: string,
  body: string,
): string =>
  documentOf(
    language,
    title,
    `<style>${STYLE}</style>`,
    `<main><p class="service">${escapeMarkup(service)}</p>${body}</main>`,
  )

/** Marks that begin or end a direction, and would reach beyond their text. */
const TURNS = /[\u202A-\u202E\u2066-\u2069]/g
/** Letters that are read from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF]/

/** Text of others in HTML: escaped, and its direction is its own. */
export const foreign = (text: string): string => `<bdi>${straight(text)}</bdi>`

/** Text of others for an element with `dir="auto"`, which does not look into `<bdi>`. */
export const straight = (text: string): string => escapeMarkup(text.replace(TURNS, ''))

/** Text of others in plain text (U+2068 and U+2069 isolate its direction where that matters). */
export function isolated(text: string): string {
  const plain = text.replace(TURNS, '')
  return RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain
}
