import { JsonError, MAX_JSON_BYTES, parseJson } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?$/i

/**
 * Reads a request's body as JSON: exact media type, at most 64 KiB, valid UTF-8, then the strict parser.
 * @throws `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, `INVALID_PARAMETERS`, also where the client left before the end of the body
 */
export async function readBody(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type')
  if (!JSON_MEDIA_TYPE.test(type ?? '')) {
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
      details: {
        'Content-Type': `Expected application/json, received ${type ? JSON.stringify(type.slice(0, 100)) : 'nothing'}.`,
      },
    })
  }
  const encoding = request.headers.get('content-encoding')
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
      details: { 'Content-Encoding': 'Expected an encoding of identity.' },
    })
  }
  const bytes = await readBytes(request).catch((error: unknown) => {
    // Reading fails only when the connection ends or its deadline passes: that is the client's doing, not an error of ours.
    throw error instanceof ProblemError
      ? error
      : invalidBody('Expected all of it, received a part.', error)
  })
  if (bytes.byteLength === 0) throw invalidBody('Expected a JSON object, received nothing.')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw invalidBody('Expected valid UTF-8.', error)
  }
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) throw invalidBody(error.message, error)
    throw error
  }
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null) {
    if (Number(declared) > MAX_JSON_BYTES) throw new ProblemError('PAYLOAD_TOO_LARGE')
    return new Uint8Array(await request.arrayBuffer())
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength
    if (length > MAX_JSON_BYTES) throw new ProblemError('PAYLOAD_TOO_LARGE')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function invalidBody(message: string, cause?: unknown): ProblemError {
  return new ProblemError(
    'INVALID_PARAMETERS',
    { message: `The body is not valid: ${message}`, details: { body: message } },
    { cause },
  )
}
