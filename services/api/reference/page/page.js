// Starts Swagger UI on our document. Nothing is sent anywhere but to this server: no validator, no remembered key.
window.SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#reference',
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
  requestInterceptor(request) {
    // The form fills in every default; this one does not go with a search by meaning.
    const url = new URL(request.url, location.href)
    if (url.searchParams.get('search') === 'semantic' && url.searchParams.get('search_in') === 'title') {
      url.searchParams.delete('search_in')
      request.url = url.href
    }
    return request
  },
})
