import t from 'tap'
import { LANGUAGES } from '#shared/articles/article'
import { sampleArticles } from '#test/sample'
import { startTestServers } from '#test/servers'
import { createWorld, query } from './world.ts'

t.test(
  'a headline finds the same news in the other languages, with the embedded model',
  async t => {
    const servers = process.env.EMBEDDINGS_URL
      ? null
      : await startTestServers({ servers: ['model'] })
    const url = servers?.addresses.EMBEDDINGS_URL ?? process.env.EMBEDDINGS_URL ?? ''
    if (servers) t.teardown(() => servers.stop())
    if (url === '') return t.comment('this machine cannot run the model')
    const world = await createWorld(t, {
      EMBEDDINGS_URL: url,
      EMBEDDINGS_API_KEY:
        servers?.settings.EMBEDDINGS_API_KEY ?? process.env.EMBEDDINGS_API_KEY ?? '',
      EMBEDDINGS_MODEL: 'intfloat/multilingual-e5-small',
    })

    const events = Map.groupBy(sampleArticles(), text => text.event)
    const texts = [...events.values()]
      .filter(versions => versions[0]?.event != null && versions.length >= 4)
      .flat()
    await world.index(
      texts.map(({ title, paragraphs, language, publishedAt }, number) => ({
        id: `sample-${number}`,
        title,
        body: paragraphs.join('\n\n'),
        language,
        publishedAt,
      })),
    )
    await world.fleet.start('embedder')
    await world.embedded(texts.length, 240_000)
    const search = await world.openSearch()
    const shares = new Map<string, number[]>()
    for (const { title, event, language } of texts) {
      const same = texts.flatMap((text, number) =>
        text.event === event ? [`sample-${number}`] : [],
      )
      const { rows } = await search.search(query(title, { perPage: 10 }), null)
      const found = rows.filter(({ id }) => same.includes(id)).length / same.length
      shares.set(language, [...(shares.get(language) ?? []), found])
    }
    for (const language of LANGUAGES) {
      const all = shares.get(language) ?? []
      const mean = all.reduce((sum, share) => sum + share, 0) / all.length
      // The headlines are no translations of one another; Luxembourgish is what the model knows
      // least.
      t.ok(
        mean >= (language === 'lb' ? 0.75 : 0.85),
        `${language}: ${mean.toFixed(3)} of the versions among the best ten (${all.length} headlines)`,
      )
    }
  },
)
