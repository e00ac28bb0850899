/** One plain style for all sites but the two old ones, coloured by outlet. */
export function styleSheet(colour: string): string {
  return `
:root { --colour: ${colour} }
* { box-sizing: border-box }
body { margin: 0; font: 1.05rem/1.6 Georgia, serif; color: #222; background: #fafaf8 }
a { color: var(--colour) }
.masthead { background: var(--colour); color: #fff; padding: 1rem 1.5rem }
.masthead a { color: #fff; text-decoration: none; font-size: 1.9rem; font-weight: bold }
.masthead p { margin: 0; opacity: .85 }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 1.2rem; margin: 0; padding: .6rem 1.5rem; background: #fff;
  border-bottom: 1px solid #ddd }
main { max-width: 44rem; margin: 1.5rem auto; padding: 0 1.2rem }
h1 { line-height: 1.2 }
.meta, figcaption, .comment small { color: #666; font-size: .9rem }
.intro { font-weight: bold }
#content, .menu, .footer { max-width: 48rem; padding: 0 1.5rem }
figure { margin: 1rem 0 }
figure img { width: 100%; height: auto; border-radius: 4px }
.related, .newsletter, .share, .comments { border-top: 3px solid var(--colour); margin: 1.6rem 0; padding-top: .4rem; font-size: .95rem }
.share ul { list-style: none; display: flex; gap: 1rem; padding: 0 }
.cookie-bar { position: sticky; bottom: 0; background: #333; color: #fff; padding: .6rem 1.5rem }
footer { border-top: 1px solid #ddd; padding: 1rem 1.5rem 2rem; color: #666; font-size: .9rem }
`
}

/** A picture without a copyright: hills in the outlet's colour, shaped by the article's number. */
export function pictureOf(number: string, colour: string): string {
  const height = (index: number) => 90 + Number(number[index] ?? 0) * 12
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 300"><rect width="640" height="300" fill="#dfe7ea"/>
<circle cx="${80 + Number(number.slice(-2)) * 5}" cy="70" r="34" fill="#f4d58d"/>
<path d="M0 300V${height(0)}L160 ${height(1)}L320 ${height(2)}L480 ${height(3)}L640 ${height(4)}V300Z" fill="${colour}" opacity=".55"/>
<path d="M0 300V${height(3) + 60}L200 ${height(4) + 70}L420 ${height(5) + 60}L640 ${height(1) + 70}V300Z" fill="${colour}"/></svg>`
}
