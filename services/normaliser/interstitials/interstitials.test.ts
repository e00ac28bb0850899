import t from 'tap'
import { ANNOUNCED, INTERSTITIAL_EXAMPLES, interstitialOf } from '../../../test/normaliser/interstitials.ts'
import { parsePage } from '../markup/tree.ts'
import { readPageText } from '../text/page-text.ts'
import { openingOf } from './paywall.ts'
import { textFingerprint } from './served.ts'

t.test('a paywall stub is one by its words too, when its data say nothing', async t => {
  for (const { name, html, says } of INTERSTITIAL_EXAMPLES.filter(({ kind }) => kind === 'paywall')) {
    const opening = openingOf(readPageText(parsePage(html.replace(/<script.*<\/script>/, ''))), null)
    t.equal(opening.walled, true, name)
    t.notOk(opening.paragraphs.join('\n').includes(says), name)
  }
})

const article = (title: string, ...paragraphs: string[]) =>
  `<html><head><title>${title}</title></head><body><article><h1>${title}</h1>${paragraphs.map(text => `<p>${text}</p>`).join('')}</article></body></html>`

t.test('news about cookies, faults, subscriptions and agreements is no wall', async t => {
  const fine = 'legt een bedrijf een boete op omdat het cookies plaatste zonder toestemming van bezoekers.'
  const paper =
    'De krant verhoogt de prijs van een abonnement tot 45 euro per maand. De uitgever telt nu een miljoen abonnees.'
  const fault =
    'Een storing in het betaalverkeer trof dinsdag duizenden winkels. De oorzaak was een fout in de software van de bank.'
  const vote = 'De gemeenteraad bereikte woensdag een akkoord en gaf toestemming voor de bouw van de brug.'
  for (const [title, ...paragraphs] of [
    ['Boete voor cookies zonder toestemming', ...Array.from('12345678', at => `Waakhond ${at} ${fine}`)],
    ['Krant wordt duurder', paper, paper.repeat(3)],
    ['Fout in software legt betaalverkeer plat', fault, fault.repeat(3)],
    ['Quorvex: De raad stemt in', vote],
    ['Loi sur le consentement', 'Les députés ont voté la loi sur le consentement, après deux ans de débats.'],
    ['Der Landtag stimmt zu', 'Die Abgeordneten gaben ihre Zustimmung zum Gesetz über den Datenschutz.'],
  ] as const)
    t.equal(interstitialOf(article(title, ...paragraphs), { feedTitle: title }), null, title)
})

t.test('a bot defence that also works on ordinary pages makes no wall of them', async t => {
  const html = article(ANNOUNCED, 'De brug over de Schelde blijft tot vrijdag dicht voor vrachtwagens. '.repeat(6))
  t.equal(
    interstitialOf(
      html.replace(
        '</body>',
        '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script><script>perimeterx</script></body>',
      ),
    ),
    null,
  )
})

t.test('a page with hardly a link and no word of the feed’s title is a bot defence in any words', async t => {
  const served = (links: number) =>
    `<html><head><title>Kontroll</title><script src="/k.js"></script></head><body><h1>Eng Sekonn w.e.g.</h1><p>Mir kucken no Iech. Nummer 7781.</p>${'<a href="/x">x</a>'.repeat(links)}</body></html>`
  t.equal(interstitialOf(served(1)), 'challenge')
  t.equal(interstitialOf(served(9)), null, 'a page of a site')
  t.equal(interstitialOf(served(1), { feedTitle: 'Kontroll op der Streck' }), null, 'a word of the title')
  t.equal(interstitialOf(served(1), { feedTitle: null }), null)
})

t.test('a redirect to another address of the article is no wall', async t => {
  const html = article(ANNOUNCED, 'De brug over de Schelde blijft tot vrijdag dicht voor vrachtwagens. '.repeat(6))
  t.equal(interstitialOf(html, { finalUrl: 'https://www.dagkoerier.example/nieuws/brug-schelde-dicht' }), null)
  t.equal(interstitialOf(html, { finalUrl: 'https://dagkoerier.uitgever.example/privacy/boete-voor-cookies' }), null)
})

t.test('the visible opening of a paywalled article is kept, the offer is not', async t => {
  const opening = 'De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens. '.repeat(8).trim()
  const page = readPageText(
    parsePage(
      article(
        ANNOUNCED,
        opening,
        'Lees verder met een abonnement',
        'Word abonnee en lees onbeperkt voor € 2,50 per week.',
      ),
    ),
  )
  t.same(openingOf(page, false), { paragraphs: [opening], walled: true })
})

t.test('an offer that no reader sees makes no stub of a short article', async t => {
  const offer = '<div><p>Word nu abonnee en lees alle artikelen.</p></div>'
  const opening = 'De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens.'
  const walled = (html: string) => openingOf(readPageText(parsePage(html)), null).walled
  const html = article(ANNOUNCED, opening)
  t.equal(walled(html.replace('</article>', `</article>${offer}`)), true)
  t.equal(walled(html.replace('</article>', `</article>${offer.replace('div', 'div hidden')}`)), false)
})

t.test('a whole text under a paywall flag is whole', async t => {
  const paragraphs = Array.from({ length: 12 }, (_, at) =>
    `Alinea ${at} van een heel artikel. ${'Er staat genoeg in om te lezen. '.repeat(8)}`.trim(),
  )
  const opening = openingOf(readPageText(parsePage(article(ANNOUNCED, ...paragraphs))), false)
  t.equal(opening.walled, false)
  t.equal(opening.paragraphs.length, 12)
})

t.test('one text in other spaces, signs and capitals has one fingerprint; short texts have none', async t => {
  const fingerprint = (text: string, titled = true, strange = false) => textFingerprint(text, { titled, strange })
  const text =
    'Wij gebruiken cookies om u beter van dienst te zijn, en onze partners ook. Maak hieronder uw keuze; u kunt die altijd wijzigen.'
  t.same(fingerprint(text), fingerprint(text.toUpperCase().replaceAll(' ', '\n\n')))
  t.notSame(fingerprint(text), fingerprint(`${text} Nee.`))
  t.equal(fingerprint('Foto van de dag'), null)
  const numbered = (number: string) => `${text} Uw nummer is ${number}.`
  t.notSame(fingerprint(numbered('8842')), fingerprint(numbered('77-1a')), 'numbers tell reports apart')
  t.same(fingerprint(numbered('8842'), false), fingerprint(numbered('77-1a'), false), 'where no word is the title’s')
  t.same(fingerprint('Even geduld: 1432', false, true), fingerprint('Even geduld: 1433', false, true))
})
