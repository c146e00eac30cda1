import { describeApi } from '#service/openapi/describe-api.ts'
import { violations, type JsonSchema } from './json-schema.ts'

type Response = {
  headers?: Record<string, unknown>
  content: { 'application/json': { schema: JsonSchema; examples?: Record<string, unknown> } }
}
type Operation = { responses: Record<string, Response> }

export type ReceivedResponse = {
  method: string
  path: string
  status: number
  headers: Headers
  body: unknown
}

/** Where answers depart from what `/openapi.json` says of them: an undescribed status or code, a missing header, a body of another shape. */
export function createResponseCheck(): (answer: ReceivedResponse) => string[] {
  const api: JsonSchema = JSON.parse(JSON.stringify(describeApi()))
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
    if (!operation)
      return violations(api, { $ref: '#/components/schemas/Error' }, { value: body, at })
    const described = operation.responses[String(status)]
    if (!described) return [`${at}: this status is not described`]
    const { schema, examples } = described.content['application/json']
    const code = codeOf(body)
    return [
      ...violations(api, schema, { value: body, at }),
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
