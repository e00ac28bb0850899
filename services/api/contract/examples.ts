/**
 * A search that finds articles at the sample outlets of `npm start` and on any day at real ones.
 * The guide and the reference page show it.
 */
export const EXAMPLE_SEARCH = 'q=trein&country=NL,BE'

/** A page that this search returns, cut to one article. */
export const PAGE_EXAMPLE = {
  status: 'ok',
  total_results: 2,
  next_cursor: 'AWY3ZTQx…',
  articles: [
    {
      id: 'a1f0c2e9b7d64e55',
      title: 'Trein naar Leeuwarden krijgt batterij in plaats van diesel',
      url: 'https://noorderkrant.example/verkeer/trein-naar-leeuwarden',
      snippet: 'Op het spoor tussen Groningen en Leeuwarden verdwijnt de diesellucht.',
      published_at: '2026-11-20T08:00:00.000Z',
      ingested_at: '2026-11-20T08:04:11.250Z',
      authors: [{ id: '5c1f0a7e', name: 'Anna de Wit' }],
      outlet: { name: 'Noorderkrant', domain: 'noorderkrant.example' },
      language: 'nl',
      country: 'NL',
    },
  ],
}
