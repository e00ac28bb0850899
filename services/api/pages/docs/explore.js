// Shows the operations beyond the contract below those of the contract. The document's own links work there alone,
// so this one has none.
window.SwaggerUIBundle({
  url: 'explore/openapi.json',
  dom_id: '#beyond',
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: false,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
})
