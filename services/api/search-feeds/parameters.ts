import type { Request } from 'express'
import { ApiError } from '../contract/api-error.ts'
import { rawQueryOf } from '../http/raw-query.ts'
import { createProblems } from '../parameters/problems.ts'
import { readQueryString } from '../parameters/querystring.ts'

/** @throws ApiError `invalid_request` with the sentence for each parameter of the address */
export function refuseParameters(request: Request, sentence: string): void {
  const problems = createProblems()
  for (const { name } of readQueryString(rawQueryOf(request.originalUrl))) problems.add(name, sentence)
  if (problems.any) throw new ApiError('invalid_request', { errors: problems.toObject() })
}
