import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { API_NODE_OPTIONS } from '../../shared/process/node.ts'

const PLACES = ['package.json', 'docker-compose.yml', 'infra/Dockerfile', 'infra/ha/systemd/perscope-api.service']

t.test('every line that starts an API gives Node the same options', async t => {
  for (const place of PLACES) {
    const text = readFileSync(fileURLToPath(new URL(`../../${place}`, import.meta.url)), 'utf8')
    const lines = text.split('\n').filter(line => line.includes('services/api/main.ts'))
    t.ok(lines.length > 0, place)
    // A line is words with blanks between them, or a JSON array.
    for (const line of lines)
      t.match(line.replaceAll('", "', ' '), `node ${API_NODE_OPTIONS.join(' ')} services/api/main.ts`, place)
  }
})
