import t from 'tap'
import { type FeedEntry, wholeEntry } from '#shared/outlets/page'
import { feedText, feedTexts } from './feed-text.ts'

t.test(
  'HTML of a feed becomes paragraphs without captions, links to other articles and notes',
  async t => {
    t.equal(
      feedText(`<figure><img src="x"><figcaption>Foto: An Claes</figcaption></figure>
      <p>De dijk wordt hoger, zegt de <a href="/w">waterraad</a>.</p><h2>Vier jaar</h2><p>Het duurt vier jaar.</p>
      <p><a href="/lees">Lees verder</a></p><p>The post De dijk wordt hoger appeared first on De Maaskoerier.</p>`),
      'De dijk wordt hoger, zegt de waterraad.\n\nVier jaar\n\nHet duurt vier jaar.',
    )
  },
)

t.test(
  'paragraphs of links and headings at the end are left out, unless nothing else is there',
  async t => {
    const text = '<p>De dijk wordt hoger, zegt de waterraad.</p>'
    const linked = (words: number) =>
      `<p><a href="/a">${'dijk '.repeat(words).trim()}</a> ${'d'.repeat(20)}</p>`
    const cases: [string, string][] = [
      [
        `${text}<p><a href="/b">De brug blijft dicht tot mei</a></p>`,
        'De dijk wordt hoger, zegt de waterraad.',
      ],
      [
        `${text}<h2>De brug</h2><p><a href="/b">De brug blijft dicht tot mei</a></p>`,
        'De dijk wordt hoger, zegt de waterraad.',
      ],
      [`${text}<h2>De brug</h2><h3>De trein</h3>`, 'De dijk wordt hoger, zegt de waterraad.'],
      ['<p><a href="/b">De brug blijft dicht tot mei</a></p>', 'De brug blijft dicht tot mei'],
      ['<h2>De dijk wordt hoger</h2>', 'De dijk wordt hoger'],
    ]
    for (const [html, expected] of cases) t.equal(feedText(html), expected, html)
    t.match(
      feedText(text + linked(17)),
      /\n\ndijk/,
      '84 characters of 105, four fifths, may be a link',
    )
    t.notMatch(feedText(text + linked(18)), /\n\ndijk/, 'not more')
    const also =
      'Lees ook het verslag van de raad, dat vandaag verscheen en honderd bladzijden telt in druk.'
    t.equal(feedText(also), also, 'a sentence of plain text is no link')
  },
)

t.test(
  'an entry gives its content first, then its summary, and nothing where they have no text',
  async t => {
    const entry = (content: string | null, summary: string | null) =>
      wholeEntry({ content, summary }, 'https://a.example/1')
    const texts = (entry: FeedEntry | null) =>
      [...feedTexts(entry)].map(({ source, value }) => `${source}: ${value}`)
    t.strictSame(texts(entry('De dijk.', 'Kort.')), ['feed: De dijk.', 'summary: Kort.'])
    t.strictSame(texts(entry(null, 'Kort.')), ['summary: Kort.'])
    t.strictSame(texts(entry('De dijk.', ' ')), ['feed: De dijk.'])
    t.strictSame(texts(null), [])
  },
)

t.test('an end that only says that there is more is cut off, of plain text too', async t => {
  t.equal(feedText('De dijk wordt hoger &amp; breder […]'), 'De dijk wordt hoger & breder')
  t.equal(feedText('<p>La digue sera plus haute. Lire la suite</p>'), 'La digue sera plus haute.')
  t.equal(feedText('Der Deich wird höher. Weiterlesen …'), 'Der Deich wird höher.')
})

t.test('nothing is null', async t => {
  for (const source of [null, '', ' ', '<p> </p>', '<img src="x">', '<a href="/x">Lees meer</a>'])
    t.equal(feedText(source), null, String(source))
})
