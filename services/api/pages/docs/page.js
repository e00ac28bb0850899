// Starts Swagger UI on our document. Nothing is sent anywhere but to this server: no validator, no
// remembered key.

/** Swagger UI's BaseLayout, but for the order: the operations stand before the guide. */
function operationsFirst({ React, getComponent, specSelectors }) {
  const element = React.createElement
  const part = name => element('div', { className: 'wrapper', key: name }, element(getComponent(name, true)))
  const says = sentence => element('p', { className: 'wrapper', role: 'status' }, sentence)
  return {
    components: {
      OperationsFirst() {
        const status = specSelectors.loadingStatus()
        if (status === 'failed') return says('v1/openapi.json cannot be read. Reload this page.')
        if (status !== 'success') return says('The reference is loading.')
        return element(
          'div',
          { className: 'swagger-ui' },
          element(getComponent('SvgAssets')),
          element(
            'section',
            { id: 'contract', tabIndex: -1, 'aria-label': 'Operations' },
            part('AuthorizeBtnContainer'),
            part('operations'),
          ),
          element('section', { id: 'guide', tabIndex: -1, 'aria-label': 'Guide' }, part('InfoContainer')),
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

nameServer()
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
  persistAuthorization: false,
  validatorUrl: null,
}
window.SwaggerUIBundle({
  ...usual,
  url: 'v1/openapi.json',
  dom_id: '#reference',
  plugins: [operationsFirst],
  layout: 'OperationsFirst',
  deepLinking: true,
})
// The operations beyond the contract stand below. The document's own links work in the first alone.
window.SwaggerUIBundle({ ...usual, url: 'explore/openapi.json', dom_id: '#beyond', layout: 'BaseLayout' })
