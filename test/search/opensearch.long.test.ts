import t from 'tap'
import { startTestOpensearch } from '#test/fleet/parts/opensearch'
import { failureOf } from '#test/script'

const { url, skip } = await startTestOpensearch(t)
const SEARCH = 'oracle oracle.slow counts names removals visibility.slow writing.slow'.split(' ')
const CONTRACT = [
  'costs',
  'explore',
  'explore-counts',
  'feed',
  'matching',
  'pages',
  'poll.slow',
  'polls',
  'random',
  'totals.slow',
]

t.test(
  'every test of answers holds when older articles are matched in OpenSearch',
  { skip },
  async t => {
    for (const file of [
      ...SEARCH.map(name => `search/${name}`),
      ...CONTRACT.map(name => `contract/${name}`),
    ]) {
      t.equal(await failureOf(file, { TEST_OPENSEARCH_URL: url, WHOLE: 'yes' }), null, file)
    }
  },
)
