import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { run } from '#test/script'

const PROGRAM = fileURLToPath(new URL('../../infra/ha/postgres/archive-wal', import.meta.url))

t.test(
  'the last segment of a timeline that ended may differ between members; no other file may',
  async t => {
    const folder = t.testdir()
    const kept = (name: string) => join(folder, name)
    const archive = async (contents: string, name: string) => {
      const source = join(folder, 'source')
      await writeFile(source, contents)
      await run(PROGRAM, [source, kept(name)])
    }
    const segment = '000000020000000000000009'
    await archive('of one member', segment)
    await archive('of one member', segment)
    await t.rejects(
      archive('of another', segment),
      /has other contents/,
      'while the timeline may go on',
    )

    // Timeline 3 left timeline 2 in segment 9.
    await archive(
      '1\t0/7000000\tno recovery target\n\n2\t0/9A12345\tno recovery target\n',
      '00000003.history',
    )
    await archive('of another', segment)
    t.equal(await readFile(kept(segment), 'utf8'), 'of one member', 'the first copy stays')
    await archive('written before the loss', '00000002000000000000000A')
    await archive('of another', '00000002000000000000000A')

    for (const name of ['000000020000000000000008', '000000030000000000000009']) {
      await archive('of one member', name)
      await t.rejects(archive('of another', name), /has other contents/, name)
    }
    await t.rejects(archive('of another', '00000003.history'), /has other contents/)
    const partial = (await readdir(folder)).filter(file => file.includes('partial'))
    t.same(partial, [])
  },
)
