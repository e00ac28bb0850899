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

/** Swagger UI follows a class, we the browser. */
function followColours() {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const show = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', show)
  show()
}

/** The examples ask this server; its address is known here only. */
function nameServer() {
  const base = new URL('.', location.href).href.replace(/\/$/, '')
  for (const place of document.querySelectorAll('.server')) place.textContent = base
}

followColours()
nameServer()
window.SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#reference',
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [operationsFirst],
  layout: 'OperationsFirst',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
})
