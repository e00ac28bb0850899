/** Text for HTML and XML, in elements and in quoted attributes. */
export const escapeMarkup = (text: string): string =>
  text.replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`)

/**
 * A page of HTML, light or dark as its reader wants it.
 *
 * @param head HTML behind the title
 * @param body HTML
 */
export const documentOf = (language: string, title: string, head: string, body: string): string =>
  `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${escapeMarkup(title)}</title>${head}</head><body>${body}</body></html>`
