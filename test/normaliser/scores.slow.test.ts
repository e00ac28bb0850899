import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { measurePages } from '#bench/ingestion/pages'
import { pageAgencies } from '#services/normaliser/authors/agencies'
import { readStored } from '#services/normaliser/compose'
import { agencyEvidence } from '#shared/articles/agencies'
import { isWhole } from '#test/script'
import { storedPage } from './pages.ts'

const DATA = new URL('../../../shared/data', import.meta.url).pathname
const skip = existsSync(DATA) ? false : 'the sets of pages (../shared/data) are not here'

/** A little below the figures in docs/ingestion.md, so that a step back is noticed. */
const LEAST = {
  text_f1_aeb: 0.964,
  text_f1_fundus: 0.97,
  text_f1_trafilatura: 0.944,
  snippet_fundus: 0.91,
  dates_fundus_right: 98,
  dates_trafilatura_right: 93,
  dates_htmldate_right: 90,
  authors_fundus_people: 95,
  authors_trafilatura_people: 85,
  titles_fundus_right: 84,
  interstitials_recognised: 1,
}
/** Alone, a third of the pages is read; `test/whole.long.test.ts` reads all. */
const EVERY = isWhole ? 1 : 3
const LEAST_HERE = isWhole
  ? LEAST
  : { ...LEAST, authors_fundus_people: 90, titles_fundus_right: 80 }

t.test('scores on pages whose truth others published do not fall', { skip }, async t => {
  const figures = await measurePages(DATA, EVERY)
  for (const [name, least] of Object.entries(LEAST_HERE))
    t.ok((figures[name] ?? 0) >= least, `${name}: ${figures[name]}`)
  t.equal(figures.interstitials_false, 0, 'no article counts as an interstitial')
})

t.test(
  'of each signal of an agency 99 of 100 are right, on what people have judged',
  { skip },
  async t => {
    const texts = new Map<string, string>()
    const lines = (file: string) =>
      gunzipSync(readFileSync(`${DATA}/${file}`))
        .toString()
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
    for (const { pair_id: id, text1, text2 } of lines('pairs-semeval22/pairs.ndjson.gz'))
      texts.set(`semeval ${id}/1`, text1).set(`semeval ${id}/2`, text2)
    for (const { i, text } of lines('corpus-10kgnad-test/gnad_test.jsonl.gz'))
      texts.set(`10kgnad ${i}`, text)
    for (const { i, text } of lines('corpus-agnews-test/agnews_test.jsonl.gz'))
      texts.set(`agnews ${i}`, text)
    const bylines = new Map<string, string[]>()
    for (const [n, line] of readFileSync(
      `${DATA}/nl-article-metadata/nl-articles-meta.jsonl`,
      'utf8',
    )
      .trim()
      .split('\n')
      .entries()) {
      const { author, first200 } = JSON.parse(line)
      texts.set(`nlmeta ${n}`, first200)
      bylines.set(`nlmeta ${n}`, [author])
    }
    const evidenceIn = (name: string) => {
      const text = texts.get(name)
      if (text !== undefined)
        return agencyEvidence({ authors: bylines.get(name) ?? [], body: text })
      const page = storedPage(null, { body: gunzipSync(readFileSync(`${DATA}/${name}`)) })
      const reading = readStored(page, new Date())
      return pageAgencies(
        reading.meta,
        null,
        reading.texts.find(one => one.against === null)?.value ?? null,
      )
    }
    const bySignal = new Map<string, { found: number; wrong: string[] }>()
    let there = 0
    let told = 0
    let judged = 0
    for (const line of readFileSync(new URL('agencies.tsv', import.meta.url), 'utf8')
      .trim()
      .split('\n')) {
      // The rules were tuned on those that are not marked as unseen.
      const [name = '', verdict = '', unseen = ''] = line.split('\t')
      const agencies = verdict === '-' ? [] : verdict.split(', ')
      const evidence = evidenceIn(name)
      judged++
      there += agencies.length
      told += agencies.filter(agency => evidence.some(one => one.agency === agency)).length
      for (const one of new Set(evidence.map(({ agency, signal }) => `${signal}: ${agency}`))) {
        const [signal = '', agency = ''] = one.split(': ')
        const of = bySignal.get(signal + unseen) ?? { found: 0, wrong: [] }
        bySignal.set(signal + unseen, of)
        of.found++
        if (!agencies.includes(agency)) of.wrong.push(`${name}: ${agency}`)
      }
    }
    t.ok(judged >= 510, `${judged} judged`)
    for (const [signal, { found, wrong }] of bySignal) {
      t.comment(`${signal}: ${found - wrong.length} of ${found}`)
      t.ok(wrong.length <= 0.01 * found, `${signal}: ${wrong.slice(0, 3)}`)
    }
    t.comment(`recall ${told} of ${there}`)
    t.ok(told >= 0.9 * there, `${told} of ${there}`)
  },
)
