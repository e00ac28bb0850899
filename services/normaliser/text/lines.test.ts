import t from 'tap'
import { isChaffLine } from './choose.ts'

const CHAFF = [
  'Lees ook: Waterraad wil hogere dijken',
  'Lire aussi : La digue sera plus haute',
  'Mehr zum Thema',
  'Liest och: D’Schleis gëtt méi héich',
  'You may also like...',
  'Schrijf je in voor onze nieuwsbrief',
  'Abonnez-vous à notre infolettre quotidienne.',
  'Folgen Sie uns auf Facebook',
  'Subscribe to our newsletter.',
  'Gepubliceerd op 17 november 2026 om 09:30',
  'Mis à jour le 17/11/2026 à 09h30',
  'Aktualisiert: 17.11.2026, 09:30 Uhr',
  '17 novembre 2026',
  'Nov 17, 2026 9:30 am',
  'Leestijd: 3 minuten',
  'Foto: An Claes / Belga',
  'De dijk bij Roosteren vorige week (Foto: dpa)',
  'Image 1 of 5',
  'Reporting by An Claes; editing by Piet Janssen',
  '12 reacties',
  'Advertentie',
  'An dieser Stelle finden Sie einen externen Inhalt von YouTube, der den Artikel ergänzt.',
  '© 2026 De Maaskoerier. Alle rechten voorbehouden.',
  'If you buy something from a De Maaskoerier link, we and our shop may earn a commission.',
  'If you click on a link and make a purchase we may receive a small commission.',
  '___',
  '+++ Niets meer missen: neem onze nieuwsbrief +++',
  '>> Jeden Morgen in Ihrem Postfach: der Newsletter der Maaszeitung',
  'Tip: volg de dijkwerken ook via WhatsApp.',
  'Deel dit artikel:',
  'A lire également',
  'Pour aller plus loin :',
  'Dans la même rubrique',
  'La reproduction de cet article est interdite.',
  'Nachdruck, auch auszugsweise, nur mit Genehmigung.',
  'Kommentar verfassen',
  'We use cookies to remember your visit.',
  '{"player":{"autoplay":false,"streams":[{"type":"video/mp4"}]}}',
  'window.dataLayer.push({event: "view"})',
]
const TEXT = [
  'Op 17 november 2026 besloot de waterraad tot hogere dijken.',
  'Lees ook maar eens een boek, zei de minister tegen de leerlingen, want dat is goed voor iedereen.',
  'De krant telt een miljoen abonnees op haar nieuwsbrief.',
  'Published studies say that rivers rise faster than they did a century ago, and nobody doubts it any more.',
  'Foto’s van de dijk zijn te zien in het gemeentehuis van Roosteren.',
  'Mehr als hundert Menschen kamen.',
  'Trending ist das nicht.',
  'Brokers who may earn a commission on every sale were heard by the court of Roosteren for three days, in a case about the price of land behind the dyke, and were asked what they knew of the plans of the water board; the court will decide in May, said its president, who did not answer questions of reporters in the hall.',
  'Der Deich ist hoch.',
  '"Nee", zei ze.',
  '+++ 14:05 De dijk bij Roosteren houdt stand +++',
  'La reproduction des saumons reprend dans la Meuse.',
  'Pour aller plus loin, la digue attendra 2030, dit la maire.',
  'De waterraad gebruikt geen cookies.',
  '[De dijk] is te laag, zegt zij.',
]

t.test('lines between the paragraphs are told by their words, in five languages', async t => {
  for (const line of CHAFF) t.equal(isChaffLine(line, 0), true, line)
})

t.test('sentences about the same things stay', async t => {
  for (const line of TEXT) t.equal(isChaffLine(line, 0), false, line)
})
