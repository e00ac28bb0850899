import type { Standbys } from '../../../search/index.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import type { History } from './history.ts'
import { observeStandbys, refusals, statements } from './metrics.ts'
import { openStandby, type Standby } from './standby.ts'

/** The standbys of an API process. */
export interface OpenedStandbys extends Standbys {
  close(): Promise<void>
}

/**
 * Opens the standbys of DATABASE_READ_URL. Each statement goes to the one with the fewest under
 * way, then to the next one; a null result leaves it to the primary.
 */
export function openStandbys(urls: string[], connections: number, history: History, log: Logger): OpenedStandbys {
  const standbys = urls.map(url => openStandby(url, connections, history, log))
  let turn = 0
  observeStandbys(() => standbys.map(({ name, isUp }) => ({ name, isUp: isUp() })))

  return {
    async rows(statement, needed, isWhole) {
      turn = (turn + 1) % standbys.length
      for (const standby of inTurn(standbys, turn)) {
        const answer = await standby.rows(statement, needed, isWhole)
        if ('rows' in answer) {
          statements.inc({ server: 'standby' })
          return answer.rows
        }
        refusals.inc({ reason: answer.refusal })
        // The client has waited long enough.
        if (answer.refusal === 'timeout') break
      }
      statements.inc({ server: 'primary' })
      return null
    },
    async close() {
      history.close()
      await Promise.all(standbys.map(standby => standby.close()))
    },
  }
}

/** Those that answer, the least busy first; equals take turns. */
function inTurn(standbys: Standby[], turn: number): Standby[] {
  return [...standbys.slice(turn), ...standbys.slice(0, turn)]
    .filter(standby => standby.answers())
    .sort((a, b) => a.underWay() - b.underWay())
}
