import t from 'tap'
import { askOverHttp } from './random.ts'

t.test('thousands of random requests answer as a naive oracle does', async t => {
  for (let seed = 400; seed < 404; seed++) {
    const { differences, answered, refused, found } = await askOverHttp(t, seed, 750)
    t.comment(`${answered} answered with ${found} articles, ${refused} refused`)
    t.same(differences.slice(0, 3), [], `seed ${seed}`)
  }
})
