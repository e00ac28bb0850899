import { writeFile } from 'node:fs/promises'
import { SAMPLE_OUTLETS } from '#infra/outlets/sample/outlets'
import { LANGUAGES, type Language } from '#shared/articles/article'
import { biasFile } from '#shared/embeddings/bias'
import { openEmbeddings, sourceOf } from '#shared/embeddings/embeddings'
import { counted } from '#shared/log/printable'
import type { Pool } from '#shared/postgres/pool'
import { runCommand, UsageError } from '#shared/process/command'

/**
 * The most characters of a passage and of a search term. Short texts are enough, because they also
 * show the common part of vectors.
 */
const PASSAGE = 300
const QUERY = 150
const ARTICLES = 200

await runCommand(
  {
    name: 'measure-bias',
    about: [
      'Measures the bias of EMBEDDINGS_MODEL: the mean vectors of passages and of search terms in each language, on the texts',
      'of the sample outlets, or of the newest articles of the index. Services subtract those in shared/embeddings/bias from',
      'every vector. Copy FILE there when it serves you; `npm run reembed -- --all` then makes the vectors again.',
    ].join('\n'),
    usage: ['--write FILE [--stored]'],
    options: {
      write: { value: 'FILE', about: 'where the means are written' },
      stored: { about: `the newest ${ARTICLES} articles of each language in place of the sample` },
    },
    needs: ['EMBEDDINGS_URL'],
  },
  async ({ config, options, say, signal, openPool }) => {
    const { write } = options
    if (typeof write !== 'string') throw new UsageError('Name a file: --write FILE.')
    const pool = options.stored ? openPool({ mayBeStandby: true }) : null
    const source = sourceOf(config)
    // Raw vectors, because the bias of an earlier measurement must not be subtracted from them.
    const embeddings = openEmbeddings(
      { ...source, model: { ...source.model, bias: [] } },
      { passageTimeout: config.EMBEDDINGS_TIMEOUT },
    )
    const means: number[][] = []
    for (const language of LANGUAGES) {
      const passages: number[][] = []
      const queries: number[][] = []
      const texts = pool === null ? sampleTexts(language) : await storedTexts(pool, language)
      if (texts.length === 0)
        throw new Error(`There is no text in ${language}, and each language needs some.`)
      for (const text of texts) {
        passages.push(...(await embeddings.embedPassages([text.slice(0, PASSAGE)], signal)))
        queries.push(await embeddings.embedQuery(text.slice(0, QUERY), signal))
      }
      means.push(mean(passages), mean(queries))
      say(`${language}: ${counted(texts.length, 'text')}`)
    }
    const rows = means.map(mean => `    ${JSON.stringify(mean)}`).join(',\n')
    await writeFile(
      write,
      `{\n  "model": ${JSON.stringify(source.model.name)},\n  "means": [\n${rows}\n  ]\n}\n`,
    )
    say(`Wrote ${write}; services read ${biasFile(source.model.name).pathname}.`)
  },
)

function sampleTexts(language: Language): string[] {
  const samples = SAMPLE_OUTLETS.flatMap(({ texts }) => texts).filter(
    sample => sample.language === language,
  )
  return samples.flatMap(({ title, paragraphs }) => [title, ...paragraphs])
}

async function storedTexts(pool: Pool, language: Language): Promise<string[]> {
  const { rows } = await pool.query<{ title: string; body: string | null }>(
    `select t.title, left(t.body, ${PASSAGE}) as body from articles a join article_texts t using (seq)
      where a.language = $1 order by a.seq desc limit ${ARTICLES}`,
    [language],
  )
  return rows.flatMap(({ title, body }) => [title, ...(body === null ? [] : [body])])
}

/** The mean of some vectors, rounded to five digits, because more digits would be noise. */
function mean(vectors: number[][]): number[] {
  const sum = vectors[0]!.map((_, at) => vectors.reduce((total, vector) => total + vector[at]!, 0))
  return sum.map(number => Number((number / vectors.length).toFixed(5)))
}
