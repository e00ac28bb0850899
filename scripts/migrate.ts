import { migrate } from '../infra/migrations/migrate.ts'
import { runCommand } from '../shared/process/command.ts'
import { renewDerived } from './reindex/renew.ts'

await runCommand(
  {
    name: 'migrate',
    about:
      'Brings the database named by DATABASE_URL to the present schema, and its names and words to the present rules. Safe to run again at any time.',
    needs: ['DATABASE_URL'],
  },
  async ({ config, openPool, say, signal }) => {
    const { applied, version } = await migrate(config.DATABASE_URL)
    await renewDerived(openPool({ max: 3, statementTimeout: 0 }), signal)
    say(
      applied.length === 0
        ? `The schema is at ${version} already.`
        : `Applied ${applied.join(', ')}; the schema is at ${version}.`,
    )
  },
)
