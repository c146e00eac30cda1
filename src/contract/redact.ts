import * as v from 'valibot'
import { LosslessNumber, stringifyJson } from './json.ts'

/**
 * What logs show: errors, and in the request log of a request or a response. There the schema of the endpoint decides: figures,
 * choices of a closed list and text marked as `logged` are shown, everything else is hidden. A value
 * that does not fit its schema is hidden too, so text in the place of a figure is never shown.
 */

const HIDDEN = '[hidden]'
/** Bytes of UTF-8 in one excerpt. */
export const MOST_EXCERPT_BYTES = 2_048
/** Rows of a list that are shown. */
const MOST_ROWS = 10
const MOST_TEXT = 200
const ELLIPSIS = '…'

type Shape = v.GenericSchema & {
  entries?: Readonly<Record<string, v.GenericSchema>>
  wrapped?: v.GenericSchema
  item?: v.GenericSchema
  options?: readonly unknown[]
  pipe?: readonly unknown[]
}

/** JSON of a value as the log shows it, cut to the size of an excerpt. Undefined where there is nothing. */
export function excerptOf(schema: v.GenericSchema | undefined, value: unknown): string | undefined {
  if (value === undefined) return undefined
  return cutText(stringifyJson(redact(schema, value)))
}

/** @returns a value that JSON can hold */
export function redact(schema: v.GenericSchema | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return value ?? null
  const shape: Shape | undefined = schema
  if (!shape) return HIDDEN
  const mark = markOf(shape)
  if (mark === true) return v.is(shape, value) ? cutValue(value) : HIDDEN
  if (mark) return redact(mark, value)
  const [inner] = shape.pipe ?? []
  if (isSchema(inner)) return redact(inner, value)
  if (shape.wrapped) return redact(shape.wrapped, value)
  if (shape.entries) return isObject(value) ? redactFields(shape.entries, value) : HIDDEN
  if (shape.item) return Array.isArray(value) ? redactRows(shape.item, value) : HIDDEN
  if (shape.type === 'picklist' || shape.type === 'literal')
    return v.is(shape, value) ? value : HIDDEN
  if (shape.options) {
    const fitting = shape.options.filter(isSchema).find((option) => v.is(option, value))
    return redact(fitting, value)
  }
  if (shape.type === 'number')
    return typeof value === 'number' || value instanceof LosslessNumber ? value : HIDDEN
  if (shape.type === 'boolean') return typeof value === 'boolean' ? value : HIDDEN
  return HIDDEN
}

/** Names outside of the schema are hidden as well: a caller chose them. */
function redactFields(
  entries: Readonly<Record<string, v.GenericSchema>>,
  value: object,
): Record<string, unknown> {
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(entries, name))
  const unknown = Object.keys(value).length - known.length
  return {
    ...Object.fromEntries(known.map(([name, field]) => [name, redact(entries[name], field)])),
    ...(unknown > 0 && { [ELLIPSIS]: `${unknown} more fields` }),
  }
}

function redactRows(item: v.GenericSchema, rows: readonly unknown[]): unknown[] {
  const shown = rows.slice(0, MOST_ROWS).map((row) => redact(item, row))
  return rows.length > MOST_ROWS ? [...shown, `${rows.length - MOST_ROWS} more`] : shown
}

/** Whether a schema is marked as shown, or as what its value is shown. */
function markOf(schema: Shape): true | v.GenericSchema | undefined {
  for (const step of schema.pipe ?? []) {
    if (isSchema(step)) {
      const inner = markOf(step)
      if (inner !== undefined) return inner
    } else if (isObject(step) && 'metadata' in step && isObject(step.metadata)) {
      if ('logged' in step.metadata) return true
      if ('loggedAs' in step.metadata && isSchema(step.metadata.loggedAs))
        return step.metadata.loggedAs
    }
  }
  return undefined
}

const QUOTED = /"(?:[^"\\]|\\.)*"?/g
const ADDRESS_OF_PAGE = /\b[a-z][a-z+.-]*:\/\/\S+/gi
const RECEIVED = /,? received .*$/s

/** One of our sentences without what it quotes of a request. */
function redactSentence(text: string): unknown {
  return cutValue(
    text.replace(RECEIVED, '.').replace(QUOTED, `"${ELLIPSIS}"`).replace(ADDRESS_OF_PAGE, ELLIPSIS),
  )
}

/**
 * The `error` of an error response. Of a field of the request it shows what was expected, and never
 * what was received: an invalid value may be a secret in a wrong place.
 */
export function redactError(
  error: object,
  schemas: readonly (v.GenericSchema | undefined)[],
): Record<string, unknown> {
  const { code, message, details, retryAfter }: Record<string, unknown> = { ...error }
  const ofFields = code === 'INVALID_PARAMETERS'
  return {
    code,
    ...(typeof message === 'string' && !ofFields && { message: redactSentence(message) }),
    ...(isObject(details) && {
      details: Object.fromEntries(
        Object.entries(details).map(([field, figure]) => [
          // The caller chose the name of an unknown field.
          !ofFields || hasField(schemas, field) ? field : ELLIPSIS,
          redactFigure(figure),
        ]),
      ),
    }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** The figures of a refusal, which are ours. */
function redactFigure(value: unknown): unknown {
  if (typeof value === 'string') return redactSentence(value)
  if (Array.isArray(value)) return value.slice(0, MOST_ROWS).map(redactFigure)
  if (!isObject(value) || value instanceof LosslessNumber) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, figure]) => [name, redactFigure(figure)]),
  )
}

/** Whether a field, or what is within it, is one of these schemas. */
function hasField(schemas: readonly (v.GenericSchema | undefined)[], field: string): boolean {
  const [first = ''] = field.split('.')
  return schemas.some((schema) => {
    const shape: Shape | undefined = schema
    return shape?.entries !== undefined && Object.hasOwn(shape.entries, first)
  })
}

function isSchema(value: unknown): value is Shape {
  return isObject(value) && 'kind' in value && value.kind === 'schema'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function cutValue(value: unknown): unknown {
  return typeof value === 'string' && value.length > MOST_TEXT
    ? `${value.slice(0, MOST_TEXT).toWellFormed()}${ELLIPSIS}`
    : value
}

/** At most `MOST_EXCERPT_BYTES` of UTF-8, without half a character at its end. */
export function cutText(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= MOST_EXCERPT_BYTES) return text
  const room = bytes.subarray(0, MOST_EXCERPT_BYTES - 3)
  return new TextDecoder().decode(room, { stream: true }) + ELLIPSIS
}

/** Of a URL all but scheme and host may be a secret: RPC endpoints have their key in the path, the query or the user name. */
const USER_OF_URL = /\b([a-z][a-z\d+.-]{0,19}:\/\/)[^\s/?#"'`<>]*@/gi
const REST_OF_URL =
  /\b([a-z][a-z\d+.-]{0,19}:\/\/[^\s/?#"'`<>]+)[/?#][^\s"'`<>]*[^\s"'`<>).,;:\]]/gi

function cutUrls(text: string): string {
  return text.replace(USER_OF_URL, '$1').replace(REST_OF_URL, `$1/${ELLIPSIS}`)
}

export type LoggedError = {
  type: string
  message: string
  code?: unknown
  stack?: string
  cause?: LoggedError
  /** Of an `AggregateError`: why each endpoint failed. */
  errors?: LoggedError[]
}

/**
 * An error for the log of a program, with its causes: of URLs scheme and host alone, and of a failed query of Drizzle not the values, which are a
 * caller's data.
 */
export function describeForLog(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: cutUrls(String(error)) }
  const message =
    'params' in error && 'query' in error ? `Failed query: ${String(error.query)}` : error.message
  const stack = error.stack?.replace(error.message, () => message)
  return {
    type: error.name,
    message: cutUrls(message),
    ...('code' in error && { code: error.code }),
    ...(stack !== undefined && { stack: cutUrls(stack) }),
    ...(error.cause !== undefined &&
      depth < 4 && { cause: describeForLog(error.cause, depth + 1) }),
    ...(error instanceof AggregateError &&
      depth < 4 && {
        errors: error.errors.slice(0, 4).map((each) => describeForLog(each, depth + 1)),
      }),
  }
}
