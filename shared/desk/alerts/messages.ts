import { randomBytes } from 'node:crypto'

/** A new id of a message. Receivers see it, and know a message that comes twice by it. */
export const messageId = (): string => `msg_${randomBytes(16).toString('hex')}`
