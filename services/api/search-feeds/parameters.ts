import type { Request } from 'express'
import { ApiError } from '../contract/errors.ts'
import { createProblems, rawQueryOf, readQueryString } from '../contract/query-string.ts'

/** @throws ApiError `invalid_request` with the sentence for each parameter of the address */
export function refuseParameters(request: Request, sentence: string): void {
  const problems = createProblems()
  for (const { name } of readQueryString(rawQueryOf(request.originalUrl))) problems.add(name, sentence)
  if (problems.any) throw new ApiError('invalid_request', { errors: problems.toObject() })
}
