import t from 'tap'
import { runScript } from '#test/script'
import { createWorld } from './world.ts'

t.test('reindex --vectors has the vectors of a part made anew, by the embedders', async t => {
  const world = await createWorld(t)
  await world.fleet.start('embedder')
  const seqs = await world.index([
    ...Array.from({ length: 70 }, (_, n) => ({ title: `nummer ${n}`, language: 'nl' as const })),
    ...Array.from({ length: 5 }, (_, n) => ({ title: `numéro ${n}`, language: 'fr' as const })),
  ])
  await world.embedded(75)
  const times = async () =>
    (
      await world.pool.query<{ seq: bigint; at: Date }>(
        'select seq, embedded_at as at from embeddings order by seq',
      )
    ).rows.map(row => row.at.getTime())
  const before = await times()
  const asked = world.model.requests.length

  const args = ['--vectors', '--language', 'nl', '--rate', '200', '--json']
  const { out } = await runScript('reindex', args, world.env)
  t.same(JSON.parse(out), { what: 'vectors', articles: 70, segments: 0, done: true })
  const after = await times()
  t.equal(seqs.filter((_, at) => after[at]! > before[at]!).length, 70, 'those in Dutch are new')
  t.same(after.slice(70), before.slice(70), 'the others are as they were')
  const texts = new Set(world.model.requests.slice(asked).flatMap(request => request.input))
  t.ok(texts.has('nummer 69') && !texts.has('numéro 0'))
})
