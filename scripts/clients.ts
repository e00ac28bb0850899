import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { PACKAGES } from '../clients/build.ts'
import { runCommand, UsageError } from '../shared/process/command.ts'

await runCommand(
  {
    name: 'clients',
    about: 'Writes the packages for clients, which an API also serves at /clients: a .tgz for npm and a .whl for pip.',
    usage: ['--build DIR'],
    options: { build: { type: 'string', value: 'DIR', about: 'folder for the files to install' } },
  },
  async ({ options, positionals, print }) => {
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not understood; see --help.`)
    if (typeof options.build !== 'string') throw new UsageError('Name the folder: --build DIR.')
    const folder = resolve(options.build)
    await mkdir(folder, { recursive: true })
    for (const [name, make] of Object.entries(PACKAGES)) {
      await writeFile(join(folder, name), await make())
      print(join(folder, name))
    }
  },
)
