/**
 * The model or the vector store is away: whatever was to be done waits, and nobody is to blame for
 * it.
 */
export class Outage extends Error {
  override name = 'Outage'
}
