import { runCommand, UsageError, wholeNumber } from '#shared/process/command'
import { SCENARIOS } from './scenarios/list.ts'
import { type FleetVerdict, runScenario } from './scenarios/run.ts'

const MOST = 1_000_000_000

await runCommand(
  {
    name: 'fleet',
    about:
      'Builds several hosts on this machine as network namespaces, runs the parts of a fleet on them, loses hosts and links, and reports what clients noticed.',
    usage: ['--scenario NAME [--seed S] [--loopback] [--keep] [--json]', '--list'],
    options: {
      scenario: { value: 'NAME', about: 'the scenario to run' },
      list: { about: 'lists the scenarios' },
      seed: { value: 'S', about: 'a seed fixes what is published and asked (default 1)' },
      loopback: { about: 'makes the hosts addresses 127.x.y.n, also where namespaces are allowed' },
      keep: { about: 'keeps data and logs of the run also when it found nothing' },
      json: { about: 'prints the verdict as one JSON object' },
    },
  },
  async ({ options, say, print, signal }) => {
    if (options.list === true) {
      for (const { name, about } of SCENARIOS) print(`${name.padEnd(16)} ${about}`)
      return 0
    }
    const scenario = SCENARIOS.find(({ name }) => name === options.scenario)
    if (!scenario) {
      const named =
        options.scenario === undefined ? '' : `There is no scenario "${options.scenario}". `
      throw new UsageError(`${named}Name a scenario: --scenario NAME; --list shows them.`)
    }
    const verdict = await runScenario(scenario, {
      seed: wholeNumber('seed', options.seed, MOST) ?? 1,
      patience: 1,
      loopback: options.loopback === true,
      keep: options.keep === true,
      signal,
      say,
    })
    if (options.json === true) print(JSON.stringify(verdict))
    else for (const line of inWords(verdict)) print(line)
    // An interrupted scenario may still wait for hosts that are gone, so the process ends here.
    if (signal.aborted) process.exit(130)
    return verdict.ok ? 0 : 1
  },
)

function inWords({ scenario, hosts, took, figures, findings, folder, ok }: FleetVerdict): string[] {
  return [
    `${scenario}: ${took} s on hosts as ${hosts === 'namespaces' ? 'network namespaces' : 'addresses of loopback'}.`,
    ...Object.entries(figures).map(([name, value]) => `${name}: ${value}`),
    ...findings.map(finding => `- ${finding}`),
    ok ? 'Nothing was found.' : `${findings.length} found; logs are in ${folder}/logs.`,
  ]
}
