import { execFile, spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import t from 'tap'

const LOGGER = JSON.stringify(new URL('./logger.ts', import.meta.url).href)

/** Runs a script in a process, and returns the messages that it has logged. */
function logged(script: string): Promise<{ msg: string }[]> {
  const whole = `import { createLogger, patientLogger } from ${LOGGER}
const log = createLogger('test', 'info')
const patient = patientLogger(log)
${script}`
  return new Promise(resolve => {
    execFile(process.execPath, ['--input-type=module', '-e', whole], (_error, _out, err) => {
      const lines = err.split('\n').filter(line => line.startsWith('{'))
      resolve(lines.map(line => JSON.parse(line)))
    })
  })
}

const messages = async (script: string) => (await logged(script)).map(({ msg }) => msg)

t.test('lines that may wait keep their place before those that may not', async t => {
  const found = await messages(`
    patient.info('1'); patient.info('2'); log.info('3'); patient.info('4')
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2_000)`)
  t.strictSame(
    found,
    ['1', '2', '3', '4'],
    'the last one was written before the process was killed',
  )
})

t.test('a line that may not wait is written before a process is killed', async t => {
  const found = await messages(
    `patient.info('1'); log.info('2'); process.kill(process.pid, 'SIGKILL')`,
  )
  t.strictSame(found, ['1', '2'])
})

t.test('a process that ends, or fails, writes what waits', async t => {
  t.strictSame(await messages(`patient.info('1'); process.exit(0)`), ['1'])
  t.strictSame(await messages(`patient.info('1'); throw new Error('no')`), ['1'])
})

t.test('lines that a full disk does not take are counted, and end no process', async t => {
  const metrics = JSON.stringify(new URL('../metrics.ts', import.meta.url).href)
  const script = `import { createLogger, patientLogger } from ${LOGGER}
    import { registry } from ${metrics}
    const log = createLogger('test', 'info')
    patientLogger(log).info('1'); log.warn('2'); log.fatal('3'); process.stderr.on('error', () => {}).write('4')
    setTimeout(async () => console.log(await registry().metrics()), 300)`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
    encoding: 'utf8',
  })
  t.equal(status, 0)
  t.match(stdout, /^perscope_log_lines_lost_total 3$/m)
})
