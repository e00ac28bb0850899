import type { TestApi } from '#test/contract/api'

/** Articles for the examples of the READMEs: every one of them finds some. */
export async function indexNews(api: TestApi): Promise<void> {
  await api.index([
    { title: 'De trein naar Gent', country: 'BE', body: 'De trein rijdt weer.' },
    { title: 'Een trein te laat', authors: ['Anna de Wit'] },
    { title: 'Staking', body: 'Geen trein vandaag.' },
    { title: 'Le train de nuit', language: 'fr', country: 'BE' },
    ...Array.from({ length: 130 }, (_, i) => ({ title: `Bericht ${i}` })),
  ])
}
