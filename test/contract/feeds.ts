import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Test } from 'tap'
import { type Answered, sent, startTestApi, type TestApi } from './api.ts'

export interface FeedApi extends TestApi {
  /** Makes a feed as the explorer does. */
  make(secret: string | null, body: unknown, headers?: Record<string, string>): Promise<Answered>
  list(secret: string): Promise<Answered['json']>
  /** As a feed reader at an address of the test's choosing asks: without a key. */
  read(path: string, headers?: Record<string, string>, method?: string): Promise<Answered>
}

/** An API with a few articles, and how the explorer and feed readers use its feeds. */
export async function startFeedApi(test: Pick<Test, 'teardown'>): Promise<FeedApi> {
  const env = { SERVICE_NAME: 'Nieuws & Co', AUTH_LOCK_FAILURES: '10', TRUST_PROXY: '1' }
  const api = await startTestApi(test, env)
  await api.index([
    { title: 'Brug "A" & <B> geopend', authors: ['Anna de Wit'] },
    { title: 'De brug is dicht' },
    { title: 'Le pont ouvert', language: 'fr', country: 'BE' },
  ])
  return {
    ...api,
    make: (secret: string | null, body: unknown, headers?: Record<string, string>) =>
      api.ask(secret, '/explore/feeds', sent('POST', body, headers)),
    list: async (secret: string) => (await api.ask(secret, '/explore/feeds')).json.feeds,
    read: (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      api.ask(null, path, { method, headers: { 'X-Forwarded-For': '192.0.2.1', ...headers } }),
  }
}

export interface Documented {
  paths: Answered['json']
  fits(test: Test, schema: string, value: unknown): boolean
}

/** The document of operations beside the contract: `fits` holds a value against a schema. */
export async function documented({ ask }: Pick<TestApi, 'ask'>): Promise<Documented> {
  const { paths, components } = (await ask(null, '/explore/openapi.json')).json
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true } })
  ajv.addSchema({ $id: 'document', components })
  const fits = (test: Test, schema: string, value: unknown) =>
    test.ok(
      ajv.validate({ $ref: `document#/components/schemas/${schema}` }, value),
      `${schema}: ${ajv.errorsText()}`,
    )
  return { paths, fits }
}

/** The path of a feed's address. */
export const pathOf = (url: string): string => new URL(url).pathname
