import t from 'tap'
import { examples } from '#test/examples'
import { isChaffLine } from './chaff.ts'

const lines = examples('normaliser/lines')

t.test(
  'lines between the paragraphs are told by their words, in five languages; sentences like them stay',
  async t => {
    for (const kind of ['chaff', 'text'])
      for (const [line = ''] of lines.get(kind)!)
        t.equal(isChaffLine(line, 0), kind === 'chaff', line)
  },
)
