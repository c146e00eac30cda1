import type { IncomingMessage } from 'node:http'
import { JsonError, MAX_JSON_BYTES, parseJson } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'

/** One spelling of one type: anything looser is how a body slips past a check. */
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i

/** Reads a JSON body: exact type, 64 KiB unless more is named, strict UTF-8, then the JSON that keeps digits. */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes = MAX_JSON_BYTES,
): Promise<unknown> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE')
  if (Number(request.headers['content-length'] ?? 0) > maxBytes)
    throw new ProblemError('PAYLOAD_TOO_LARGE')
  const bytes = await readBytes(request, maxBytes)
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const message =
      error instanceof JsonError ? renderDecodeProblem(error.problem) : 'Expected UTF-8.'
    throw new ProblemError(
      'INVALID_PARAMETERS',
      { message, details: { body: message } },
      { cause: error },
    )
  }
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    // The stream is left as it is on a refusal: destroying it would end the connection before the answer.
    for await (const chunk of request.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) throw new ProblemError('PAYLOAD_TOO_LARGE')
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof ProblemError) throw error
    // Reading fails only when the connection ends or its deadline passes: that is the client's doing, not an error of ours.
    const message = 'Expected all of it, received a part.'
    throw new ProblemError(
      'INVALID_PARAMETERS',
      { message: `The body is not valid: ${message}`, details: { body: message } },
      { cause: error },
    )
  }
  return Buffer.concat(chunks)
}
