import { migrate } from '../infra/migrations/migrate.ts'
import { runCommand } from '../shared/process/command.ts'

await runCommand(
  {
    name: 'migrate',
    about:
      'Brings the database named by DATABASE_URL to the present schema. Safe to run again at any time.',
    needs: ['DATABASE_URL'],
  },
  async ({ config, say }) => {
    const { applied, version } = await migrate(config.DATABASE_URL)
    say(
      applied.length === 0
        ? `The schema is at ${version} already.`
        : `Applied ${applied.join(', ')}; the schema is at ${version}.`,
    )
  },
)
