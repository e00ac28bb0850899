import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Alert, AlertTerms, KeptSearch } from '#clients/typescript/src/index'
import { Button, CopyButton, LANGUAGE_OPTIONS, Select, useAsking } from '#web/parts/controls.tsx'
import { FailureNotice, saidOf } from '#web/parts/failure-notice.tsx'
import { ask, type Failure, hasList, isOneOf } from '#web/parts/request'
import { useSpeech, type Words } from '#web/words/index'
import { Made } from './made.tsx'

const AT_ONCE = 'at once'

/** The days of a weekly digest, as the API names them, from Monday on. */
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

/** The answer with the kept searches of a key, and why alerts cannot write to addresses of mail. */
export const isKeptList = (json: unknown): json is { data: KeptSearch[]; no_mail: string | null } =>
  hasList(json, 'data')

/** The address of a kept search. */
export const keptPath = (id: string): string => `/explore/searches/${encodeURIComponent(id)}`

type Answer = Failure | { kind: 'set'; secret: string }

/** @returns a mistake in the terms, or the secret of a webhook's signatures */
export async function setAlert(id: string, terms: AlertTerms): Promise<Answer> {
  const asking = { method: 'PUT', body: terms } as const
  const answer = await ask(`${keptPath(id)}/alert`, isOneOf<Alert>, asking)
  return answer.kind === 'failure'
    ? answer
    : { kind: 'set', secret: answer.value.data.secret ?? '' }
}

/**
 * The one place that says whom a kept search tells what is new: by mail or webhook, at once or as a
 * digest, and in a feed reader.
 *
 * @param props.id keeps the search if it is not kept yet; null: that failed
 * @param props.isOfWords a search by meaning has a feed alone
 */
export function Telling(props: {
  name: string
  alert: Alert | null
  feed: KeptSearch['feed']
  /** Why alerts cannot write to addresses of mail; null: they can. */
  noMail: string | null
  isOfWords: boolean
  isOpen?: boolean
  id(): Promise<string | null>
  /** null: the search could not be kept, which its own place says. */
  onSet(terms: AlertTerms): Promise<Answer | null>
  onEnd(what: 'alert' | 'feed'): void
  /** The search has a feed. */
  onFeed(): void
}): VNode {
  const { name, alert, feed, noMail, isOfWords, isOpen = false } = props
  const { id, onSet, onEnd, onFeed } = props
  const { words, say, heard } = useSpeech()
  const [urls, setUrls] = useState<Record<string, string> | null>(null)
  const { failure, told } = useAsking()
  const show = async () => {
    const own = await id()
    if (own === null) return
    const path = `${keptPath(own)}/feed`
    const answer = await told(
      ask(path, isOneOf<{ urls: Record<string, string> }>, { method: 'PUT' }),
    )
    setUrls(answer?.data.urls ?? null)
    if (answer !== null) onFeed()
  }
  const endFeed = () => {
    setUrls(null)
    onEnd('feed')
  }
  const mine = Intl.DateTimeFormat().resolvedOptions().timeZone
  const zone = alert === null || alert.time_zone === mine ? '' : ` (${alert.time_zone})`
  const state =
    alert === null
      ? null
      : [
          alert.to.replace(/^mailto:/, ''),
          alert.when === AT_ONCE ? words.alert.atOnce : `${digestOf(alert.when, words)}${zone}`,
          words.alert.states[alert.state],
        ].join(' · ')
  return (
    <details class="telling" open={isOpen}>
      <summary>
        {isOfWords
          ? say(words.app.named, { name: words.alert.title, value: state ?? words.alert.nobody })
          : words.take.subscribe}
        {feed !== null && ` · ${words.alert.feed}`}
        <span class="unseen"> ({name})</span>
      </summary>
      {isOfWords && noMail !== null && <p class="hint">{heard([noMail]) ?? noMail}</p>}
      {isOfWords && <AlertForm {...{ alert, mine, noMail, onSet }} onEnd={() => onEnd('alert')} />}
      <p class="row">
        {words.take.feedAbout}
        <Button
          of={name}
          onClick={show}
          text={feed === null ? words.take.subscribe : words.take.show}
        />
        {feed !== null && (
          <Button class="quiet" of={name} onClick={endFeed} text={words.take.endFeed} />
        )}
      </p>
      <div role="status">{urls !== null && <Made urls={urls} />}</div>
      {failure !== null && <FailureNotice failure={failure} onAgain={show} />}
    </details>
  )
}

/** Days within which an article counts as new that was published before it came. */
const LATELY = 30

function Lately({ days, onDays }: { days: number | null; onDays(days: number | null): void }) {
  const { words, say } = useSpeech()
  return (
    <label class="row">
      <input
        type="checkbox"
        checked={days !== null}
        onChange={event => onDays(event.currentTarget.checked ? LATELY : null)}
      />
      {say(words.alert.lately, { days: String(days ?? LATELY) })}
    </label>
  )
}

/** "every day at 08:00", or "every week on Monday, 08:00". */
function digestOf(when: string, { alert }: Words): string {
  const { day, time } = partsOf(when)
  return day === null ? `${alert.daily} ${time}` : `${alert.weekly} ${alert.days[day]}, ${time}`
}

/** @returns `day`: its place in the week from Monday on; null: each day */
function partsOf(when: string): { day: number | null; time: string } {
  const day = DAYS.findIndex(one => when.startsWith(one))
  return { day: day < 0 ? null : day, time: when.split(' ').at(-1) ?? '' }
}

const WEB = /^https?:/i
/** How the API begins why an alert rests whose owner refused it. */
const REFUSED = 'The owner of the address has ended such mail'

/** How often an alert may tell, the least first. */
const OFTEN = ['week', 'day', 'once'] as const
const eachOf = (when: string) =>
  when === AT_ONCE ? 'once' : partsOf(when).day === null ? 'day' : 'week'

/**
 * The form of an alert: to whom, and when: at once, or each day or week at a time in a zone, and
 * the language of its mails.
 */
function AlertForm(props: {
  alert: Alert | null
  /** The time zone of this device. */
  mine: string
  noMail: string | null
  /** null: the search could not be kept, which its own place says. */
  onSet(terms: AlertTerms): Promise<Answer | null>
  onEnd(): void
}) {
  const { alert: own, mine, noMail, onSet, onEnd } = props
  const speech = useSpeech()
  const { words, language } = speech
  const { alert } = words
  const [to, setTo] = useState(own?.to.replace(/^mailto:/, '') ?? '')
  const [when, setWhen] = useState(own?.when ?? '08:00')
  const [mailed, setMailed] = useState(own?.language ?? language)
  const { day, time } = partsOf(when)
  const each = eachOf(when)
  const typed = to.trim().replace(/^mailto:/i, '')
  const isElsewhere = typed !== own?.to.replace(/^mailto:/, '')
  const isMore = own !== null && OFTEN.indexOf(each) > OFTEN.indexOf(eachOf(own.when))
  // A webhook is not asked, and neither is an owner who refused all such mail.
  const asksAgain =
    own !== null &&
    own.state !== 'asked' &&
    own.to.startsWith('mailto:') &&
    !WEB.test(typed) &&
    (isElsewhere || (isMore && own.reason?.startsWith(REFUSED) !== true))
  const digest = (day: number | null, time: string) =>
    setWhen(day === null ? time : `${DAYS[day]} ${time}`)
  const EACH = {
    once: () => setWhen(AT_ONCE),
    day: () => digest(null, when === AT_ONCE ? '08:00' : time),
    week: () => digest(0, when === AT_ONCE ? '08:00' : time),
  }
  const [zone, setZone] = useState(
    own === null || own.when === AT_ONCE ? mine : (own.time_zone ?? mine),
  )
  const [within, setWithin] = useState(own?.published_within_days ?? null)
  const [answer, setAnswer] = useState<Answer | null>(null)
  const set = async (event: Event) => {
    event.preventDefault()
    const terms = { to, when, time_zone: zone, language: mailed }
    setAnswer(await onSet({ ...terms, published_within_days: within }))
  }
  const wrong = answer?.kind === 'failure' ? answer : null
  return (
    <>
      <form class="row alert" onSubmit={set}>
        <label>
          {alert.to}
          <input
            required
            maxLength={2_000}
            value={to}
            aria-invalid={wrong !== null}
            onInput={event => setTo(event.currentTarget.value)}
          />
        </label>
        {wrong !== null && (
          <p class="problem" role="alert">
            {saidOf(wrong, speech)}
          </p>
        )}
        <label>
          {alert.when}
          <Select
            value={each}
            options={[
              ['once', alert.atOnce],
              ['day', alert.daily],
              ['week', alert.weekly],
            ]}
            onChoose={chosen => EACH[chosen]()}
          />
        </label>
        {day !== null && (
          <label>
            {alert.day}
            <Select
              value={day}
              options={alert.days.map((name, at) => [at, name])}
              onChoose={chosen => digest(chosen, time)}
            />
          </label>
        )}
        {when !== AT_ONCE && (
          <>
            <label>
              {alert.time}
              <input
                type="time"
                required
                value={time}
                onInput={event => digest(day, event.currentTarget.value)}
              />
            </label>
            <label>
              {alert.zone}
              <Select
                value={zone}
                options={[
                  ...new Set([mine, zone, 'UTC', ...Intl.supportedValuesOf('timeZone')]),
                ].map(one => [one, one])}
                onChoose={one => setZone(one)}
              />
            </label>
          </>
        )}
        {noMail === null && !WEB.test(typed) && (
          <label>
            {alert.language}
            <Select value={mailed} options={LANGUAGE_OPTIONS} onChoose={one => setMailed(one)} />
          </label>
        )}
        <Lately days={within} onDays={setWithin} />
        {asksAgain && (
          <p class="hint" role="status">
            {alert.again}
          </p>
        )}
        <button type="submit" class="primary">
          {own === null ? alert.set : alert.change}
        </button>
        {own !== null && <Button onClick={onEnd} text={alert.end} />}
      </form>
      <Outcomes own={own} answer={answer} />
    </>
  )
}

/** Why an alert rests, and what there is to do after it was set. */
function Outcomes({ own, answer }: { own: Alert | null; answer: Answer | null }) {
  const speech = useSpeech()
  const { alert } = speech.words
  return (
    <>
      {own !== null && own.reason !== null && (
        <p class="hint">{speech.heard([own.reason]) ?? own.reason}</p>
      )}
      <div role="status">
        {own?.state === 'asked' && answer?.kind !== 'failure' && <p>{alert.asked}</p>}
        {answer?.kind === 'set' && answer.secret !== '' && (
          <p class="row">
            {alert.secret} <code>{answer.secret}</code> <CopyButton text={answer.secret} />
          </p>
        )}
      </div>
    </>
  )
}
