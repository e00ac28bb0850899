import { writeFile } from 'node:fs/promises'
import { SETTINGS, type Setting } from '#shared/config/settings'
import { runCommand } from '#shared/process/command'

const FILE = new URL('../docs/configuration.md', import.meta.url)

await runCommand(
  {
    name: 'configuration',
    about: 'Writes docs/configuration.md from the table of settings (shared/config/settings.ts).',
  },
  async ({ say }) => {
    await writeFile(FILE, page())
    say('Wrote docs/configuration.md.')
  },
)

function page(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(
    ([name, { type, default: fallback = '', about }]) =>
      `- \`${name}\` (${type}${fallback === '' ? '' : `, \`${fallback}\``}): ${about}`,
  )
  return [
    '# Configuration',
    '',
    'Environment variables, each with a default that works. Durations are written as `500ms`, `30s`,',
    '`5m`, `2h`, sizes as `64MB`, `2GB`. A value that cannot be used stops the start with a sentence. An',
    'unknown name is warned of when it is close to a setting, or has one of our prefixes.',
    '',
    'A `secret`, a `url` or `urls` may stand in a file of one line: set `NAME_FILE` to its path, as',
    '`DATABASE_URL_FILE=/run/secrets/database`. When `NAME` is set too, `NAME` counts.',
    '',
    'Each setting has its type and its default in brackets. `npm run configuration` writes this page',
    'from `shared/config/settings.ts`.',
    '',
    ...rows,
    '',
  ].join('\n')
}
