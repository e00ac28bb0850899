import t from 'tap'
import { readColumn } from '#shared/postgres/pool'
import { startTestApi } from '#test/contract/api'
import { createRandom } from '#test/faults/random'
import { runScript, startScript } from '#test/script'
import { openDoor } from '#test/standbys/door'

const api = await startTestApi(t)
const { secret } = await api.issue()
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
/** How often the command is killed; it asks some forty statements. */
const KILLS = Number(process.env.RUNS ?? 4)

t.test(
  'a removal that is killed between any two statements goes on when it is run again',
  async t => {
    t.comment(`seed ${seed}`)
    const random = createRandom(seed)
    const env = { DATABASE_URL: api.config.DATABASE_URL }
    for (let round = 0; round < KILLS; round++) {
      const articles = Array.from({ length: 3 }, (_, at) => ({
        title: `Bericht ${round} ${at}`,
        body: 'gemeente bespreekt plannen voor een brug',
        authors: [`Schrijver ${round}`],
      }))
      await api.index(articles)
      // An id and an address name an article, also when it is gone.
      const named = await readColumn<string>(
        api.pool,
        `select ${round % 2 === 0 ? 'id' : 'url'} from articles join article_texts using (seq)`,
      )
      const words = ['remove', ...named, '--reason', 'a court']
      const at = 1 + random.below(40)
      let isKilled = false
      const door = await openDoor(
        () => new URL(env.DATABASE_URL),
        statement => {
          if (statement !== at) return 'pass'
          isKilled = command.child.kill('SIGKILL')
          return random.chance(0.5) ? 'cut' : 'lose'
        },
      )
      const command = startScript('articles', words, { DATABASE_URL: door.to(env.DATABASE_URL) })
      await command.ended
      await door.close()
      t.comment(`${isKilled ? 'killed' : 'ended'} at ${at}`)
      const again = await runScript('articles', words, env)
      t.equal(again.code, 0, again.out + again.err)
      const found = (await api.ask(secret, '/v1/articles?q=Bericht')).json
      t.equal(found.total_results, 0)
    }
    const of = (text: string) => api.pool.query(text).then(({ rowCount }) => rowCount)
    t.equal(await of('select from tombstones where cleared_at is not null'), 3 * KILLS)
    t.equal(await of('select from article_texts'), 0)
    t.equal(await of('select from authors'), 0)
    const verified = await runScript('verify', ['--json'], env)
    t.match(JSON.parse(verified.out), { differences: [] }, verified.out)
  },
)
