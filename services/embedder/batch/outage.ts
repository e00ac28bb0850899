/** The model or the vector store does not answer. The articles wait, and are not to blame. */
export class Outage extends Error {
  override name = 'Outage'
}
