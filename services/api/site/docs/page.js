// Starts Swagger UI on our document. Nothing is sent anywhere but to this server: no validator, no
// remembered key.

/**
 * Swagger UI's BaseLayout, but for the order: the operations stand before the guide. The page has
 * its own <main>, and the paths are no links, because each stands in a button.
 *
 * @param id of the operations
 * @param guide id of the guide
 */
const operationsFirst =
  (id, guide) =>
  ({ React, getComponent, specSelectors }) => {
    const element = React.createElement
    const part = name =>
      element('div', { className: 'wrapper', key: name }, element(getComponent(name, true)))
    const says = sentence => element('p', { className: 'wrapper', role: 'status' }, sentence)
    return {
      components: {
        DeepLink: ({ text }) => element('span', null, text),
        OperationsFirst() {
          const status = specSelectors.loadingStatus()
          if (status === 'failed') return says('The reference cannot be read. Reload this page.')
          if (status !== 'success') return says('The reference is loading.')
          return element(
            'div',
            { className: 'swagger-ui' },
            element(getComponent('SvgAssets')),
            element(
              'section',
              {
                id,
                tabIndex: -1,
                'aria-label': `Operations: ${specSelectors.info().get('title')}`,
              },
              part('AuthorizeBtnContainer'),
              part('operations'),
            ),
            element(
              'section',
              {
                id: guide,
                tabIndex: -1,
                'aria-label': `Guide: ${specSelectors.info().get('title')}`,
              },
              part('InfoContainer'),
            ),
            part('Models'),
          )
        },
      },
    }
  }

/** The examples ask this server; its address is known here only. */
function nameServer() {
  const base = new URL('.', location.href).href.replace(/\/$/, '')
  for (const place of document.querySelectorAll('.server')) place.textContent = base
}

/** What Swagger UI leaves out for keyboards and readers of screens. */
function mend() {
  const all = selector => document.querySelectorAll(selector)
  for (const field of all('tr[data-param-name] :is(input, select, textarea)'))
    field.setAttribute('aria-label', field.closest('tr').dataset.paramName)
  for (const list of all('.examples-select-element')) list.setAttribute('aria-label', 'Example')
  for (const heading of all('.swagger-ui h4')) heading.setAttribute('aria-level', '3')
  for (const table of all('table[role=region]')) table.removeAttribute('role')
  // Keys scroll what does not fit.
  for (const text of all('pre')) text.tabIndex = 0
}

nameServer()
mend()
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true })
// To people `/` is the search; to programs it is no page.
for (const mark of document.querySelectorAll('.wordmark')) mark.href = './'
const usual = {
  presets: [window.SwaggerUIBundle.presets.apis],
  // Its colours would be others than those of the page.
  syntaxHighlight: false,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  layout: 'OperationsFirst',
  persistAuthorization: false,
  validatorUrl: null,
}
window.SwaggerUIBundle({
  ...usual,
  url: 'v1/openapi.json',
  dom_id: '#reference',
  plugins: [operationsFirst('contract', 'guide')],
  deepLinking: true,
})
// The operations beyond the contract stand below. The document's own links work in the first alone.
window.SwaggerUIBundle({
  ...usual,
  url: 'explore/openapi.json',
  dom_id: '#beyond',
  plugins: [operationsFirst('beyond-operations', 'beyond-guide')],
})
