import { runCommand, UsageError } from '../shared/process/command.ts'
import { buildPackages } from './clients/build.ts'
import { staleFiles, writeFiles } from './clients/files.ts'

await runCommand(
  {
    name: 'clients',
    about: [
      'Writes the types of clients/typescript and clients/python from the OpenAPI document, or builds both packages.',
      'Needs no running system.',
    ].join('\n'),
    usage: ['', '--check', '--build DIR'],
    options: {
      check: { type: 'boolean', about: 'writes nothing and fails when a file is not what would be written' },
      build: { type: 'string', value: 'DIR', about: 'puts the files to install into DIR: a .tgz and a .whl' },
    },
  },
  async ({ options, positionals, print, say, signal }) => {
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not understood; see --help.`)
    if (typeof options.build === 'string') {
      for (const file of await buildPackages(options.build, signal)) print(file)
      return 0
    }
    const stale = await staleFiles()
    if (options.check === true) {
      for (const { path } of stale) say(`${path} is not what the OpenAPI document says; run npm run clients.`)
      return stale.length === 0 ? 0 : 1
    }
    await writeFiles(stale)
    say(stale.length === 0 ? 'All types are current.' : `Wrote ${stale.map(({ path }) => path).join(', ')}.`)
    return 0
  },
)
