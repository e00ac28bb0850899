import { migrate } from '#infra/migrations/migrate'
import { glanceAtRules } from '#shared/articles/rules'
import { runCommand } from '#shared/process/command'
import { renewKeys, renewTexts } from './reindex/renew.ts'

await runCommand(
  {
    name: 'migrate',
    about:
      'Brings the database named by DATABASE_URL to the present schema, and what former versions derived to the present rules. Safe to run again at any time.',
    needs: ['DATABASE_URL'],
  },
  async ({ config, openPool, say, signal }) => {
    const { applied, version } = await migrate(config.DATABASE_URL)
    const pool = openPool({ max: 3, statementTimeout: 0 })
    await renewKeys(pool, signal)
    if ((await glanceAtRules(pool)).length > 0)
      say(
        'Renewing what former versions derived from texts; services of this version may start meanwhile.',
      )
    await renewTexts(pool, signal)
    say(
      applied.length === 0
        ? `The schema is at ${version} already.`
        : `Applied ${applied.join(', ')}; the schema is at ${version}.`,
    )
  },
)
