import { createTrouble } from '../../../shared/log/trouble.ts'
import type { Crawl } from '../crawl.ts'
import { callDueHosts, isBacklogged, takeBackCalls } from './due.ts'

const TICK = 700
/** Stored pages that wait for the normaliser; a page is about 30 kB compressed. */
const BACKLOG = 5_000

/** Looks for due work again and again and calls visits for it, until it is closed. */
export function startDispatcher(crawl: Crawl): { close(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let running = Promise.resolve()
  const trouble = createTrouble(crawl.log, { begins: 'cannot look for due work', ends: 'due work is found again' })

  const tick = async () => {
    try {
      const backlogged = await isBacklogged(crawl.pool, BACKLOG)
      if (backlogged !== crawl.backlogged) {
        crawl.log.info(backlogged ? 'the normaliser is behind: no pages are fetched' : 'pages are fetched again')
      }
      crawl.backlogged = backlogged
      const hosts = await callDueHosts(crawl.pool, !backlogged)
      try {
        await crawl.queues.add(
          'visit',
          hosts.map(({ host, visits }) => ({ key: visitKey(host, visits), data: { host } })),
        )
      } catch (error) {
        await takeBackCalls(crawl.pool, hosts)
        throw error
      }
      trouble.over()
    } catch (error) {
      trouble.met(error)
    }
  }
  const next = () => {
    if (closed) return
    running = tick().then(() => {
      timer = setTimeout(next, TICK)
    })
  }
  next()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}

/** The visit's number keeps a call for the next one apart from the one in hand. Queues do not take colons. */
const visitKey = (host: string, visits: number) => `${host.replaceAll(':', '_')}-${visits}`
