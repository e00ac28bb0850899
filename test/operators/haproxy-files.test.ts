import { existsSync, readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { SECRET_PATHS } from '#services/api/http/observe'
import { operatorsFile, operatorsSettings } from '#test/fleet/parts/operators-file'
import { debianTool, MissingProgram } from '#test/fleet/programs/debian'
import { run } from '#test/script'

const haproxy = await debianTool('haproxy', 'haproxy').catch(error => {
  if (error instanceof MissingProgram) return error
  throw error
})

for (const name of readdirSync(operatorsFile('haproxy')).filter(file => file.endsWith('.cfg'))) {
  const settings = `haproxy/${name.replace(/\.cfg$/, '.env')}`
  if (!existsSync(operatorsFile(settings))) continue

  t.test(`${settings} has all that ${name} takes from its environment`, async t => {
    const text = readFileSync(operatorsFile(`haproxy/${name}`), 'utf8')
    const asked = [...text.matchAll(/\$\{(\w+)(-?)/g)]
    const given = operatorsSettings(settings)
    for (const [, variable = '', hasDefault] of asked)
      if (!hasDefault) t.ok(given[variable], variable)
    const wanted = new Set(asked.map(([, variable]) => variable))
    for (const variable of Object.keys(given)) t.ok(wanted.has(variable), `${variable} is used`)
    if (haproxy instanceof MissingProgram) return t.comment(haproxy.message)
    const check = run(haproxy.command, ['-c', '-f', operatorsFile(`haproxy/${name}`)], {
      env: { PATH: process.env.PATH, ...haproxy.env, ...given },
    })
    await t.resolves(check, 'HAProxy accepts both')
  })
}

t.test('the log of HAProxy hides what follows each path that ends with a secret', async t => {
  const text = readFileSync(operatorsFile('haproxy/api.cfg'), 'utf8')
  const masked = /regsub\("\^\/\+\((.*?)\)\/\.\*"/.exec(text)?.[1]?.split('|')
  t.strictSame(masked, [...SECRET_PATHS])
})
