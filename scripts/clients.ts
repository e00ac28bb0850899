import { buildPackages } from '../clients/build.ts'
import { runCommand, UsageError } from '../shared/process/command.ts'

await runCommand(
  {
    name: 'clients',
    about: 'Builds the packages for clients, without a network: a .tgz for npm and a .whl for pip.',
    usage: ['--build DIR'],
    options: { build: { type: 'string', value: 'DIR', about: 'folder for the files to install' } },
  },
  async ({ options, positionals, print, signal }) => {
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not understood; see --help.`)
    if (typeof options.build !== 'string') throw new UsageError('Name the folder: --build DIR.')
    for (const file of await buildPackages(options.build, signal)) print(file)
  },
)
