import * as v from 'valibot'
import type { IncomingMessage } from 'node:http'
import { detailKey } from '#contract/explain-issue.ts'
import { isForbiddenKey, JsonError, MAX_JSON_BYTES, parseJson } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'

type Part = 'params' | 'query' | 'body'

/** What an endpoint takes, by part. */
export type InputSchemas = Partial<Record<Part, v.GenericSchema>>

/** The parts of a request as they came, before parsing. */
export type RawInput = {
  params: Record<string, string>
  query: Record<string, string>
  body: unknown
}

/**
 * Parses every part of a request, or tells all that is wrong at once, field by field.
 * @throws ProblemError `INVALID_PARAMETERS`
 */
export function parseInput(schemas: InputSchemas, raw: RawInput): Record<Part, unknown> {
  // Without a prototype: a field named toString is as unknown as any other.
  const details: Record<string, string> = Object.create(null) as Record<string, string>
  const read = (part: Part): unknown => {
    const schema = schemas[part]
    if (!schema) return undefined
    const result = v.safeParse(schema, raw[part])
    if (result.success) return result.output
    for (const issue of result.issues)
      details[detailKey(v.getDotPath(issue) ?? part, part)] ??= unknownField(issue) ?? issue.message
    return undefined
  }
  const input = { params: read('params'), query: read('query'), body: read('body') }
  requireNoProblems(details)
  return input
}

/** @throws ProblemError `INVALID_PARAMETERS` with all that is wrong, by field */
export function requireNoProblems(details: Record<string, string>): void {
  const [first] = Object.entries(details)
  if (first)
    throw new ProblemError('INVALID_PARAMETERS', { message: `${first[0]}: ${first[1]}`, details })
}

function unknownField(issue: v.BaseIssue<unknown>): string | undefined {
  return issue.type === 'strict_object' && issue.expected === 'never'
    ? 'This field is not known here.'
    : undefined
}

/** @throws ProblemError when a name stands twice, since two readers could take different ones, or reaches a prototype, where no schema sees it */
export function readQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of url.searchParams) {
    if (isForbiddenKey(name))
      throw new ProblemError('INVALID_PARAMETERS', {
        details: { query: `The name "${name}" is not allowed.` },
      })
    if (name in query)
      throw new ProblemError('INVALID_PARAMETERS', { details: { [name]: 'Expected it once.' } })
    query[name] = value
  }
  return query
}

/** One spelling of one type: anything looser is how a body slips past a check. */
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i

type BodyRules = { maxBytes?: number | undefined; parse?: (text: string) => unknown }

/** Reads a JSON body: exact type, 64 KiB unless more is named, strict UTF-8, then the JSON that keeps digits. */
export async function readJsonBody(
  request: IncomingMessage,
  { maxBytes = MAX_JSON_BYTES, parse = parseJson }: BodyRules = {},
): Promise<unknown> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE')
  if (Number(request.headers['content-length'] ?? 0) > maxBytes)
    throw new ProblemError('PAYLOAD_TOO_LARGE')
  const bytes = await readBytes(request, maxBytes)
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
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

/** What the proxy alone tells the service, from the session. @throws ProblemError `INVALID_PARAMETERS` where a browser sends it */
export function refuseSenderVerified(body: { senderVerified?: boolean | undefined }): void {
  if (body.senderVerified === undefined) return
  const senderVerified = `Expected this field to be absent: it follows from the wallets of the session. Received ${body.senderVerified}.`
  throw refuseField('senderVerified', senderVerified)
}

/** The fields of a JSON object that the schema of its endpoint has accepted. */
export function fieldsOf(body: unknown): Record<string, unknown> {
  return { ...(body as Record<string, unknown>) }
}

/** Fields that the proxy writes when a link is paid. From a browser, a stranger could put a price into the merchant's list. */
const OF_LINKS = ['paymentLink', 'pieces', 'quote'] as const

/** @throws ProblemError `INVALID_PARAMETERS` where a browser sends a field that the proxy writes for a link */
export function refuseLinkMetadata(metadata: Record<string, unknown> | undefined): void {
  const found = OF_LINKS.find((name) => metadata !== undefined && Object.hasOwn(metadata, name))
  if (found === undefined) return
  throw refuseField(
    `metadata.${found}`,
    'Expected this field to be absent: only paying a link writes it.',
  )
}

/** The refusal of one field of a request: what was expected. */
export function refuseField(field: string, message: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: `${field}: ${message}`,
    details: { [field]: message },
  })
}
