import cors from 'cors'
import type { Request, RequestHandler } from 'express'
import { HEADERS } from '../contract/headers.ts'

/**
 * Lets pages of the origins read answers, and answers their browsers' preflights. Any other OPTIONS
 * is a method that is not served, after the key as everything.
 */
export function crossOrigin(origins: string[]): RequestHandler[] {
  const reading = {
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD'],
    allowedHeaders: ['Authorization', 'If-None-Match', 'X-Request-Id'],
    exposedHeaders: Object.keys(HEADERS),
    maxAge: 600,
    preflightContinue: true,
  }
  const changing = {
    ...reading,
    methods: [...reading.methods, 'POST', 'DELETE'],
    allowedHeaders: [...reading.allowedHeaders, 'Content-Type'],
  }
  return [
    cors<Request>((request, done) => done(null, /^\/explore\/feeds(\/|$)/.test(request.path) ? changing : reading)),
    (request, response, next) => {
      const asks = request.method === 'OPTIONS' && request.get('Access-Control-Request-Method') !== undefined
      if (asks && response.hasHeader('Access-Control-Allow-Origin')) response.status(204).end()
      else next()
    },
  ]
}
