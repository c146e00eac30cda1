import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { describeApi } from '#service/openapi/describe-api.ts'

export type JsonSchema = Readonly<Record<string, unknown>>
type Response = {
  headers?: Record<string, unknown>
  content: { 'application/json': { schema: JsonSchema; examples?: Record<string, unknown> } }
}
type Operation = { responses: Record<string, Response | { $ref: string }> }

export type ReceivedResponse = {
  method: string
  path: string
  status: number
  headers: Headers
  body: unknown
}

/**
 * Says where a value differs from a schema of an OpenAPI 3.1 document, independent of the product's own validators.
 * @throws Error for a keyword or a format that is unknown here: it would not be checked
 */
export function createSchemaCheck(
  api: JsonSchema,
): (schema: JsonSchema, received: { value: unknown; at: string }) => string[] {
  const ajv = new Ajv2020({
    strict: true,
    // Copied into each schema that names them, the large ones take ten times as long to compile.
    inlineRefs: false,
    allErrors: true,
    formats: { uri: (text: string) => URL.canParse(text) },
  })
  // OpenAPI's own keyword, and the place that references of a schema lead to.
  ajv.addVocabulary(['example', 'components'])
  // One document: what references name is compiled once, not once for each schema.
  ajv.addSchema({ $id: 'api', components: api.components })
  const compiled = new Map<JsonSchema, ValidateFunction>()
  return (schema, { value, at }) => {
    const validate = compiled.get(schema) ?? ajv.compile(withReferencesToApi(schema))
    compiled.set(schema, validate)
    validate(value)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${at}${instancePath}: ${message} ${JSON.stringify(params)}`,
    )
  }
}

function withReferencesToApi(schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === '$ref' && typeof value === 'string' ? value.replace(/^#/, 'api#') : value,
    ),
  )
}

/** Where an answer departs from what `/openapi.json` says of it: an undescribed status or code, a missing header, a body of another shape. */
export function checkResponse(answer: ReceivedResponse): string[] {
  check ??= createResponseCheck()
  return check(answer)
}

/** Compiled once for all tests of a process. */
let check: ReturnType<typeof createResponseCheck> | undefined

function createResponseCheck(): (answer: ReceivedResponse) => string[] {
  const api: JsonSchema = JSON.parse(JSON.stringify(describeApi()))
  const violations = createSchemaCheck(api)
  const { responses: shared } = api.components as { responses: Record<string, Response> }
  const error: JsonSchema = { $ref: '#/components/schemas/Error' }
  const paths = api.paths as Record<string, Record<string, Operation>>
  const patterns = Object.entries(paths).map(([path, operations]) => ({
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    operations,
  }))

  return (answer) => {
    const { method, path, status, headers, body } = answer
    const at = `${method} ${path} ${status}`
    const operation = patterns.find(({ pattern }) => pattern.test(path))?.operations[
      method.toLowerCase()
    ]
    // A path or method that is not described is answered with a problem, in the same envelope.
    if (!operation) return violations(error, { value: body, at })
    const row = operation.responses[String(status)]
    const described = row && '$ref' in row ? shared[row.$ref.split('/').at(-1) ?? ''] : row
    if (!described) return [`${at}: this status is not described`]
    const { schema, examples } = described.content['application/json']
    const code = codeOf(body)
    return [
      ...violations(schema, { value: body, at }),
      ...Object.keys(described.headers ?? {})
        .filter((name) => !headers.has(name) && name !== 'Retry-After')
        .map((name) => `${at}: expected the header ${name}`),
      ...(code !== undefined && !(code in (examples ?? {}))
        ? [`${at}: the code ${code} is not described`]
        : []),
    ]
  }
}

function codeOf(body: unknown): string | undefined {
  const { error } = (body ?? {}) as { error?: { code?: unknown } }
  return typeof error?.code === 'string' ? error.code : undefined
}
