import type { RefObject, VNode } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Counts } from '#clients/typescript/src/index'
import { COUNTRIES, LANGUAGES } from '#shared/articles/article'
import { countsPath, isCounts, type TimeUnit } from '#web/explorer/insights/counts.tsx'
import { askDays, askTimeCounts, useTimeCounts } from '#web/explorer/insights/over-time'
import { spanText, tickText, Units, useUnit } from '#web/explorer/insights/timeline.tsx'
import { inWords } from '#web/explorer/search/in-words'
import {
  addressOf,
  isSame,
  readSearch,
  type Search,
  writeSearch,
} from '#web/explorer/search/search'
import { COMPARED, parametersHere, viewOf } from '#web/explorer/search/view'
import { Button, focusIfLost, Segments, useStateOf, useWork } from '#web/parts/controls.tsx'
import { FailureNotice } from '#web/parts/failure-notice.tsx'
import { ask, type Failure } from '#web/parts/request'
import { Figures } from '#web/parts/table.tsx'
import { localDay } from '#web/parts/time'
import { useSpeech } from '#web/words/index'
import { csvOf, isHollow, type Row, rowsOf } from './compared.ts'
import { saveFile } from './download.ts'
import { type Picture, pngOf, SHOWN, sampleOf, svgOf } from './picture.ts'

/*
 * Numbers of articles depend on how much was published. So a comparison also counts each search
 * without its words, and can show shares instead of numbers.
 */

const MOST = LANGUAGES.length

/** The compared searches of the address. */
const comparedHere = () => parametersHere().getAll(COMPARED).slice(0, MOST).map(readCompared)
const readCompared = (written: string) => readSearch(new URLSearchParams(written))

/** Why a search was not split, and how to try again. */
interface Unsplit {
  failure: Failure
  again(): void
}

/**
 * Up to five searches on one timeline: numbers or shares, as a drawing, a table and a file. The
 * address has them while they are shown, so a link, a bookmark and a reload show them.
 */
export function Compare(props: { search: Search; isShown: boolean }): VNode {
  const { search, isShown } = props
  const speech = useSpeech()
  const { words, number, percent, say } = speech
  const labelOf = (one: Search) => inWords(one, speech)
  const [before, setBefore] = useState<Search[] | null>(null)
  const [searches, setSearches] = useState(() => {
    const here = comparedHere()
    return here.length === 0 ? [search] : here
  })
  useEffect(() => {
    const written = isShown ? searches.map(one => String(writeSearch(one))) : []
    const write = () => {
      const here = readSearch(parametersHere())
      history.replaceState(null, '', viewOf(here, { [COMPARED]: written }))
    }
    write()
    addEventListener('popstate', write)
    return () => removeEventListener('popstate', write)
  }, [searches, isShown])
  const [isShare, setShare] = useState(false)
  const [texts, setTexts] = useState(false)
  const list = useRef<HTMLUListElement>(null)
  const choose = (chosen: Search[]) => setSearches(chosen.slice(0, MOST))
  /**
   * For a button that is gone when it was pressed.
   *
   * @param at the search whose button gets the focus
   */
  const replace = (chosen: Search[], at: number) => {
    choose(chosen)
    focusIfLost(() => {
      const left = list.current?.querySelectorAll('button') ?? []
      return left[Math.min(at, left.length - 1)] ?? list.current?.closest<HTMLElement>('.take')
    })
  }
  const [unit, setUnit] = useUnit()
  const { unit: of } = useTimeCounts(searches[0] ?? null, unit, 0, false)
  const { rows, of: counted, none, failure, again } = useRows(searches, of, texts)
  const [unsplit, setUnsplit] = useStateOf<Unsplit | null>(search, null)
  const splitBy = (by: 'language' | 'country') => async () => {
    const answer = await ask(countsPath(search, by, false), isCounts)
    if (answer.kind === 'failure') return setUnsplit({ failure: answer, again: splitBy(by) })
    setUnsplit(null)
    const keys: string[] = answer.value.data.slice(0, MOST).map(({ key }) => key)
    const parts: Partial<Search>[] =
      by === 'language'
        ? LANGUAGES.filter(one => keys.includes(one)).map(one => ({ languages: [one] }))
        : COUNTRIES.filter(one => keys.includes(one)).map(one => ({ countries: [one] }))
    if (parts.length === 0) return
    setBefore(before => before ?? searches)
    choose(parts.map(part => ({ ...search, ...part })))
  }
  const isFull = searches.length >= MOST || searches.some(one => isSame(one, search))
  const labels = counted.map(one =>
    none.includes(one)
      ? say(words.app.named, { name: labelOf(one), value: words.compare.none })
      : labelOf(one),
  )
  const ends = [rows[0]?.from, rows.at(-1)?.to].flatMap(at =>
    at === undefined ? [] : [speech.date(new Date(at), 'shortDate')],
  )
  const picture: Picture = {
    rows,
    labels,
    isShare,
    tick: (row, before) => tickText(new Date(row.from), new Date(before.from), of, speech),
    format: isShare ? percent : number,
    source: [
      words.compare.values[isShare ? 'share' : 'count'],
      words.insights.units[of],
      // The axis has years only where they change.
      ends.join(' – '),
      'Perscope',
      speech.date(new Date(), 'day'),
    ],
    apart: words.compare.apart,
  }
  const save = async (kind: 'csv' | 'svg' | 'png') => {
    const svg = svgOf(picture)
    const files = {
      csv: async () => new Blob([csvOf(rows, labels)], { type: 'text/csv' }),
      svg: async () => new Blob([svg], { type: 'image/svg+xml' }),
      png: () => pngOf(svg),
    }
    saveFile(await files[kind](), `perscope-comparison-${localDay(new Date())}.${kind}`)
  }
  return (
    <section class="compare">
      <h3>{words.take.compare}</h3>
      <Compared
        {...{ searches, none, list, labelOf }}
        onRemove={at => replace(searches.toSpliced(at, 1), at)}
      />
      {failure !== null && <FailureNotice failure={failure} onAgain={again} />}
      {rows.length > 0 && <Lines picture={picture} />}
      <p class="row">
        <Button
          // A button that is disabled would lose the focus to the page.
          aria-disabled={isFull}
          onClick={() => !isFull && choose([...searches, search])}
          text={words.compare.add}
        />
        {(['language', 'country'] as const).map(by => (
          <Button key={by} onClick={splitBy(by)} text={words.compare.by[by]} />
        ))}
        {before !== null && (
          <Button
            onClick={() => {
              replace(before, 0)
              setBefore(null)
            }}
            text={words.compare.before}
          />
        )}
      </p>
      {unsplit !== null && <FailureNotice failure={unsplit.failure} onAgain={unsplit.again} />}
      <div class="row">
        <Segments
          label={words.take.compare}
          name="compared"
          values={['count', 'share'] as const}
          value={isShare ? 'share' : 'count'}
          nameOf={one => words.compare.values[one]}
          onChoose={one => setShare(one === 'share')}
        />
        <label class="row">
          <input type="checkbox" checked={texts} onChange={() => setTexts(!texts)} />
          {words.compare.texts}
        </label>
        <Units {...{ unit, drawn: of, onUnit: setUnit }} />
      </div>
      <p class="hint">{words.compare.about}</p>
      {rows.length > 0 && (
        <>
          <p class="row">
            {(['csv', 'svg', 'png'] as const).map(kind => (
              <Button key={kind} onClick={() => save(kind)} text={kind.toUpperCase()} />
            ))}
          </p>
          <Rows {...{ rows, labels, unit: of }} />
        </>
      )}
    </section>
  )
}

/** The compared searches, each with the sign of its line and a button that takes it away. */
function Compared(props: {
  searches: Search[]
  none: Search[]
  list: RefObject<HTMLUListElement | null>
  labelOf(search: Search): string
  onRemove(at: number): void
}) {
  const { searches, none, list, labelOf, onRemove } = props
  const { words, say } = useSpeech()
  return (
    <ul class="feed-list" ref={list}>
      {searches.map((one, at) => (
        <li key={addressOf(one)} class="row">
          <Sample at={at} />
          <span class="feed-title">
            {labelOf(one)}
            {none.includes(one) && <span class="hint"> {words.compare.none}</span>}
          </span>
          <Button
            class="quiet"
            onClick={() => onRemove(at)}
            aria-label={say(words.filters.remove, { name: labelOf(one) })}
            text="×"
          />
        </li>
      ))}
    </ul>
  )
}

/**
 * Figures, with their searches. The reader may already have chosen other searches, whose figures
 * have not arrived yet.
 */
interface Found {
  rows: Row[]
  of: Search[]
  /** Searches by meaning that found nothing close: what they find may be about anything. */
  none: Search[]
  failure: Failure | null
}

const NO_COUNTS: Pick<Counts, 'data'> = { data: [] }

/**
 * Counts the articles of all searches, and of the same searches without their words. It also reads
 * how complete the days are.
 */
function useRows(searches: Search[], unit: TimeUnit, texts: boolean) {
  const [found, setFound] = useState<Found>({ rows: [], of: searches, none: [], failure: null })
  const [round, setRound] = useState(0)
  const load = useCallback(
    async (signal: AbortSignal) => {
      void round
      const count = (search: Search) => askTimeCounts(search, unit, texts, { signal })
      const sets = await Promise.all(
        searches.map(async search => {
          const own = await count(search)
          if (own.kind === 'failure') return own
          if (own.value.total > 0 && own.value.meaning?.close === 0)
            return { kind: 'ok' as const, search, own: NO_COUNTS, all: NO_COUNTS, days: [] }
          const all = await count({ ...search, q: '', mode: 'keyword' })
          if (all.kind === 'failure') return all
          const filled = own.value.data.filter(({ count }) => count > 0)
          const days = await askDays(search, filled[0]?.from, filled.at(-1)?.to, { signal })
          return { kind: 'ok' as const, search, own: own.value, all: all.value, days }
        }),
      )
      const failure = sets.find(set => set.kind === 'failure') ?? null
      const told = sets.filter(set => set.kind === 'ok')
      const none = told.filter(({ own }) => own === NO_COUNTS).map(({ search }) => search)
      const rows = failure === null ? rowsOf(told) : []
      setFound({ rows, of: searches, none, failure })
    },
    [searches, unit, texts, round],
  )
  useWork(load)
  return { ...found, again: () => setRound(round + 1) }
}

const Sample = ({ at }: { at: number }) => (
  <svg
    class="sample"
    width="40"
    height="16"
    aria-hidden="true"
    dangerouslySetInnerHTML={{ __html: sampleOf(at, [0, 8], 40, SHOWN) }}
  />
)

/** The picture as it is saved, in the width and the colours of the page. */
function Lines({ picture }: { picture: Picture }) {
  const { words, say } = useSpeech()
  const [place, width] = useWidth()
  // The panel comes into view before its drawing makes it tall.
  const isDrawn = width > 0
  useEffect(() => {
    if (isDrawn) place.current?.scrollIntoView({ block: 'nearest' })
  }, [isDrawn, place])
  const value = picture.labels.join(', ')
  return (
    <>
      <div
        ref={place}
        class="chart"
        role="img"
        aria-label={say(words.app.named, { name: words.take.compare, value })}
        // The picture escapes its texts.
        dangerouslySetInnerHTML={{
          __html: isDrawn ? svgOf({ ...picture, width, colours: SHOWN }) : '',
        }}
      />
      {picture.rows.some(({ points }) => points.some(isHollow)) && (
        <p class="hint">{words.compare.hollow}</p>
      )}
    </>
  )
}

/** The width of an element in pixels; 0: it is not known yet. */
function useWidth(): [place: RefObject<HTMLDivElement | null>, width: number] {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const { current } = place
    if (current === null) return
    const sizes = new ResizeObserver(() => setWidth(current.clientWidth))
    sizes.observe(current)
    return () => sizes.disconnect()
  }, [])
  return [place, width]
}

function Rows({ rows, labels, unit }: { rows: Row[]; labels: string[]; unit: TimeUnit }) {
  const speech = useSpeech()
  const { words, percent } = speech
  const written = (part: number | null) => (part === null ? '' : percent(part))
  const isKnown = rows.some(({ points }) =>
    points.some(point => (point?.complete ?? null) !== null),
  )
  const { time, articles } = words.insights
  return (
    <Figures
      caption={words.take.compare}
      columns={[
        time,
        words.search.label,
        articles,
        words.compare.all,
        words.compare.values.share,
        ...(isKnown ? [words.compare.complete] : []),
      ]}
      figures={[2, 3, 4, 5]}
      rows={rows.flatMap(row =>
        row.points.flatMap((point, at) => {
          if (point === null) return []
          const { count, all, share, complete } = point
          const cells = [labels[at], count, all, written(share)]
          if (isKnown) cells.push(written(complete))
          return { key: `${row.key} ${at}`, name: spanText(row, unit, speech), cells }
        }),
      )}
    />
  )
}
