/** A request whose answer's headers are written down in `headers.json` under its title. */
export interface Asked {
  title: string
  /** One of the keys of `headers.test.ts`. */
  key?: string
  method?: string
  path: string
  headers?: Record<string, string>
}

/** One request for each kind of answer, in this order: some use up what the next one finds. */
export const ANSWERS: Asked[] = [
  { title: 'a page', key: 'plain', path: '/v1/articles' },
  { title: 'a page, by HEAD', key: 'plain', method: 'HEAD', path: '/v1/articles' },
  { title: 'a page of a key with a quota', key: 'counted', path: '/v1/articles' },
  { title: 'a page, compressed', key: 'plain', path: '/v1/articles', headers: { 'accept-encoding': 'gzip' } },
  {
    title: 'a page, compressed, by HEAD',
    key: 'plain',
    method: 'HEAD',
    path: '/v1/articles',
    headers: { 'accept-encoding': 'gzip' },
  },
  { title: 'a feed', key: 'plain', path: '/v1/articles.rss' },
  {
    title: 'a feed of a key with a quota, compressed',
    key: 'counted',
    path: '/v1/articles.rss',
    headers: { 'accept-encoding': 'br' },
  },
  {
    title: 'a page for a page of an allowed origin',
    key: 'plain',
    path: '/v1/articles',
    headers: { origin: 'https://reader.example' },
  },
  {
    title: 'a page for a page of another origin',
    key: 'plain',
    path: '/v1/articles',
    headers: { origin: 'https://other.example' },
  },
  { title: 'a page that has not changed', key: 'plain', path: '/v1/articles', headers: { 'if-none-match': '*' } },
  {
    title: 'a page that has not changed, with a quota',
    key: 'counted',
    path: '/v1/articles',
    headers: { 'if-none-match': '*', origin: 'https://reader.example' },
  },
  { title: 'a feed that has not changed', key: 'plain', path: '/v1/articles.rss', headers: { 'if-none-match': '*' } },
  { title: 'the name of the request is kept', key: 'plain', path: '/v1/articles', headers: { 'x-request-id': 'abc' } },
  { title: 'no key', path: '/v1/articles', headers: { 'x-forwarded-for': '192.0.2.9' } },
  { title: 'a first wrong key', key: 'wrong', path: '/v1/articles', headers: { 'x-forwarded-for': '192.0.2.10' } },
  { title: 'a second wrong key', key: 'wrong', path: '/v1/articles', headers: { 'x-forwarded-for': '192.0.2.10' } },
  { title: 'a wrong key that locks', key: 'wrong', path: '/v1/articles', headers: { 'x-forwarded-for': '192.0.2.10' } },
  { title: 'a locked address', key: 'wrong', path: '/v1/articles', headers: { 'x-forwarded-for': '192.0.2.10' } },
  { title: 'a locked address without a key', path: '/v1/articles', headers: { 'x-forwarded-for': '192.0.2.10' } },
  { title: 'a used-up minute', key: 'narrow', path: '/v1/articles' },
  {
    title: 'a used-up minute, for a page of an allowed origin',
    key: 'narrow',
    path: '/v1/articles.rss',
    headers: { origin: 'https://reader.example' },
  },
  { title: 'a used-up month', key: 'spent', path: '/v1/articles' },
  { title: 'a wrong parameter', key: 'counted', path: '/v1/articles?foo=1' },
  {
    title: 'a wrong parameter, by HEAD, compressed',
    key: 'counted',
    method: 'HEAD',
    path: '/v1/articles?foo=1',
    headers: { 'accept-encoding': 'gzip' },
  },
  { title: 'a wrong cursor of the feed', key: 'plain', path: '/v1/articles.rss?cursor=x' },
  { title: 'a time before the history of the plan', key: 'plain', path: '/v1/articles?published_after=2000-01-01' },
  { title: 'semantic search without a model', key: 'counted', path: '/v1/articles?search=semantic&q=brug' },
  { title: 'another path', key: 'counted', path: '/v1/nothing' },
  { title: 'the path with a slash more', key: 'plain', path: '/v1/articles/' },
  { title: 'the path in capitals', key: 'plain', path: '/v1/Articles' },
  { title: 'another method', key: 'counted', method: 'POST', path: '/v1/articles' },
  { title: 'another method of the feed', key: 'plain', method: 'DELETE', path: '/v1/articles.rss' },
  { title: 'OPTIONS', key: 'plain', method: 'OPTIONS', path: '/v1/articles' },
  {
    title: 'OPTIONS without a key',
    method: 'OPTIONS',
    path: '/v1/articles',
    headers: { 'x-forwarded-for': '192.0.2.11' },
  },
  {
    title: 'a preflight',
    method: 'OPTIONS',
    path: '/v1/articles',
    headers: {
      origin: 'https://reader.example',
      'access-control-request-method': 'GET',
      'x-forwarded-for': '192.0.2.11',
    },
  },
  {
    title: 'a preflight of a page of another origin',
    method: 'OPTIONS',
    path: '/v1/articles',
    headers: {
      origin: 'https://other.example',
      'access-control-request-method': 'GET',
      'x-forwarded-for': '192.0.2.11',
    },
  },
  { title: 'counts', key: 'counted', path: '/explore/counts?by=day' },
  { title: 'suggestions', key: 'counted', path: '/explore/suggestions?field=outlet&text=dag' },
  { title: 'health', path: '/healthz' },
  { title: 'the document', path: '/v1/openapi.json', headers: { 'accept-encoding': 'gzip' } },
]
