import { setTimeout as sleep } from 'node:timers/promises'
import { createPostgresBackend, Worker, withBackend } from 'bullmq'

/**
 * Lost connections are retried after this, in ms; BullMQ's own 15 s would be added to every restart
 * of a store.
 */
export const RETRY = 1_000

export const onPostgres = withBackend(createPostgresBackend)

/*
 * BullMQ's worker asks for the next message again at once when its store answers with an error: a
 * Redis at its memory limit, a Postgres without disk or about to end. That is a loop without a
 * pause, thousands of turns a second, each an error; these workers wait in between.
 */

export class PatientWorker extends Worker {
  protected override moveToActive(token: string, name?: string) {
    return patiently(
      () => super.moveToActive(token, name),
      () => this.closing !== undefined,
    )
  }
}

export class PatientPostgresWorker extends onPostgres.Worker {
  protected override moveToActive(token: string, name?: string) {
    return patiently(
      () => super.moveToActive(token, name),
      () => this.closing !== undefined,
    )
  }
}

/** ms between an error and the next question; where the connection is lost, BullMQ adds RETRY. */
const PAUSE = 500
const STEP = 100

async function patiently<T>(ask: () => Promise<T>, isClosing: () => boolean): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    for (let waited = 0; waited < PAUSE && !isClosing(); waited += STEP) await sleep(STEP)
    throw error
  }
}
