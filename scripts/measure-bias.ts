import { writeFile } from 'node:fs/promises'
import { SAMPLE_OUTLETS, textsOf } from '../infra/outlets/sample/outlets.ts'
import { LANGUAGES } from '../shared/articles/article.ts'
import { biasFile } from '../shared/embeddings/bias.ts'
import { openEmbeddings, sourceOf } from '../shared/embeddings/embeddings.ts'
import { counted } from '../shared/log/printable.ts'
import { runCommand } from '../shared/process/command.ts'

/**
 * Characters of a passage and of a search term: the common part of vectors shows in short texts
 * too.
 */
const PASSAGE = 300
const QUERY = 150

await runCommand(
  {
    name: 'measure-bias',
    about: [
      'Measures the bias of EMBEDDINGS_MODEL: the mean vectors of passages and of search terms in each language, on the texts',
      'of the sample outlets. Writes them to shared/embeddings/bias; they are subtracted from every vector. `npm run reembed -- --all`',
      'then makes the vectors again.',
    ].join('\n'),
    needs: ['EMBEDDINGS_URL'],
  },
  async ({ config, say, signal }) => {
    const source = sourceOf(config)
    // Raw vectors: the bias of an earlier measurement must not be subtracted from them.
    const embeddings = openEmbeddings(
      { ...source, model: { ...source.model, bias: [] } },
      { passageTimeout: config.EMBEDDINGS_TIMEOUT },
    )
    const samples = SAMPLE_OUTLETS.flatMap(textsOf)
    const means: number[][] = []
    for (const language of LANGUAGES) {
      const passages: number[][] = []
      const queries: number[][] = []
      const texts = samples
        .filter(sample => sample.language === language)
        .flatMap(({ title, paragraphs }) => [title, ...paragraphs])
      for (const text of texts) {
        passages.push(...(await embeddings.embedPassages([text.slice(0, PASSAGE)], signal)))
        queries.push(await embeddings.embedQuery(text.slice(0, QUERY), signal))
      }
      means.push(mean(passages), mean(queries))
      say(`${language}: ${counted(texts.length, 'text')}`)
    }
    const file = biasFile(source.model.name)
    const rows = means.map(mean => `    ${JSON.stringify(mean)}`).join(',\n')
    await writeFile(file, `{\n  "model": ${JSON.stringify(source.model.name)},\n  "means": [\n${rows}\n  ]\n}\n`)
    say(`Wrote ${file.pathname}.`)
  },
)

/** Rounded to five digits; more are noise. */
function mean(vectors: number[][]): number[] {
  const sum = vectors[0]!.map((_, at) => vectors.reduce((total, vector) => total + vector[at]!, 0))
  return sum.map(number => Number((number / vectors.length).toFixed(5)))
}
