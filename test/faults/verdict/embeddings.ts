import type { Findings } from '../findings.ts'
import type { Holdings } from './holdings.ts'

/** Embeddings that are promised for later than this are not due in this run. */
const FAR_MS = 3_600_000

/**
 * Every article is embedded exactly once when its hour has come: one promise, kept, and one vector.
 */
export function checkEmbeddings(holdings: Holdings, findings: Findings): void {
  const { order, embeddings, points, status } = holdings
  checkPromises(holdings, findings)
  checkStrays(holdings, findings)
  if (!points && order.length > 0) findings.add('Qdrant has no collection that serves.')
  const kept = embeddings.filter(({ embedded_at }) => embedded_at).length
  if (status.embedded !== kept) findings.add(`status counts ${status.embedded} embedded articles, and ${kept} are.`)
}

/** Every article has a promise. When it is kept, there is a vector. */
function checkPromises({ order, embeddings, points }: Holdings, findings: Findings): void {
  const promises = new Map(embeddings.map(embedding => [embedding.seq, embedding]))
  const soon = Date.now() + FAR_MS
  for (const { seq, id } of order) {
    const promise = promises.get(seq)
    if (!promise) findings.add(`${id} (number ${seq}) was never promised an embedding.`)
    else if (promise.failed_at) findings.add(`The embedding of ${id} (number ${seq}) was given up: ${promise.error}.`)
    else if (!promise.embedded_at && promise.due_at.getTime() < soon)
      findings.add(`${id} (number ${seq}) is not embedded.`)
    const vectors = points?.get(seq) ?? 0
    if (promise?.embedded_at && vectors === 0)
      findings.add(`${id} (number ${seq}) counts as embedded and has no vector.`)
  }
}

/** No vector or promise belongs to no article, and no article has two vectors. */
function checkStrays({ order, embeddings, points }: Holdings, findings: Findings): void {
  const articles = new Set(order.map(({ seq }) => seq))
  for (const [seq, count] of points ?? []) {
    if (!articles.has(seq)) findings.add(`Qdrant holds ${count} vectors of number ${seq}, which is no article.`)
    else if (count > 1) findings.add(`Qdrant holds ${count} vectors of number ${seq}.`)
  }
  for (const { seq } of embeddings) {
    if (!articles.has(seq)) findings.add(`An embedding is promised for number ${seq}, which is no article.`)
  }
}
