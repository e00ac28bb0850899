import { readFileSync } from 'node:fs'
import express from 'express'

/*
 * What lies beneath the API: an Express handler that sends answers which were made before. It reads
 * them from the file that its first argument names, and listens on the port of the second.
 */

/** An answer as an API has sent it. */
export interface RecordedAnswer {
  status: number
  headers: Record<string, string>
  /** In base64. */
  body: string
}

const [file = '', port = ''] = process.argv.slice(2)
const recorded: Record<string, RecordedAnswer> = JSON.parse(readFileSync(file, 'utf8'))
const answers = new Map(
  Object.entries(recorded).map(([path, { status, headers, body }]) => [
    path,
    { status, headers, body: Buffer.from(body, 'base64') },
  ]),
)

const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.get('/readyz', (_request, response) => void response.send('ok'))
app.use((request, response) => {
  const answer = answers.get(request.originalUrl)
  if (answer === undefined) return void response.status(404).end()
  response.status(answer.status).set(answer.headers).end(answer.body)
})
app.listen(Number(port), '127.0.0.1')
