/** `node infra/outlets/sample/main.ts`: the sample outlets by themselves, until SIGTERM. */

import { parseArgs } from 'node:util'
import { readPorts, startSampleSites, writePorts } from './server.ts'

const HELP = `Serves the twelve fictional sample outlets on 127.0.0.1 and prints their catalogue as JSON once all listen.

  --ports-file FILE   keep the ports in FILE, so that addresses are the same at the next start
  --port N            begin the search for free ports at N
  --help              this text
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { 'ports-file': { type: 'string' }, port: { type: 'string' }, help: { type: 'boolean' } },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return
  }
  const file = values['ports-file']
  const port = values.port === undefined ? undefined : Number(values.port)
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 32_768)) {
    throw new Error(`--port takes a number from 1 to 32767, not "${values.port}".`)
  }
  const sites = await startSampleSites({
    ports: file === undefined ? {} : await readPorts(file),
    ...(port === undefined ? {} : { port }),
  })
  const end = () => {
    void sites.close()
  }
  process.once('SIGTERM', end).once('SIGINT', end)
  if (file !== undefined) await writePorts(file, sites.ports)
  process.stdout.write(`${JSON.stringify(sites.catalogue, null, 2)}\n`)
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
