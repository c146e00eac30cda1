import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { commonProblems, type Endpoint } from '#contract/endpoint.ts'
import { endpoints, type EndpointName } from '#contract/endpoints.ts'
import { EVENT_KEYS } from '#contract/event.ts'
import { SEARCH_OPERATORS } from '#contract/payment-search.ts'
import { problems } from '#contract/problem.ts'
import { toWire, type Reason } from '#contract/reasons.ts'
import { createSchemaCheck, type JsonSchema } from '#testing/described-responses.ts'
import {
  assetSamples,
  balanceSamples,
  limitSamples,
  recipientSamples,
  senderSamples,
} from '#testing/sample-reasons.ts'
import { parseInput } from '../api/parse-input.ts'
import { describeApi } from './describe-api.ts'
import { examples } from './examples.ts'
import { queryParameters } from './field-schemas.ts'

type Operation = {
  operationId: string
  parameters: { name: string; in: string; required: boolean }[]
  requestBody?: { content: Record<string, object> }
  responses: Record<
    string,
    { content?: Record<string, { schema: object; example?: object; examples?: object }> }
  >
}

const rows = Object.entries(endpoints) as [EndpointName, Endpoint][]
const api = describeApi()
const violations = createSchemaCheck(api)
const paths = api.paths as Record<string, Record<string, Operation>>

function operationOf(endpoint: Endpoint): Operation {
  const operation =
    paths[endpoint.path.replaceAll(/:(\w+)/g, '{$1}')]?.[endpoint.method.toLowerCase()]
  if (!operation) throw new Error(`No operation for ${endpoint.path}.`)
  return operation
}

describe.each(rows)('%s', (name, endpoint) => {
  test('its example request passes the validation, its example answer is one', () => {
    const request: { params?: object; query?: object; body?: object } = examples[name].request
    expect(() => parseInput(endpoint, { query: {}, ...request })).not.toThrow()
    expect(v.safeParse(endpoint.response, examples[name].reply).issues).toBeUndefined()
  })

  test('has an operation with each of its parameters and the statuses of its problems', () => {
    const operation = operationOf(endpoint)
    expect(operation.operationId).toBe(name)
    for (const parameter of endpoint.path.matchAll(/:(\w+)/g))
      expect(operation.parameters).toContainEqual(
        expect.objectContaining({ name: parameter[1], in: 'path', required: true }),
      )
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining([
        '200',
        '400',
        '401',
        '403',
        '408',
        '429',
        '431',
        '500',
        ...endpoint.problems.map((code) => String(problems[code].status)),
      ]),
    )
  })

  test('shows an example of its request, of its answer and of each of its problems', () => {
    const { responses, requestBody } = operationOf(endpoint)
    expect(responses['200']?.content?.['application/json']).toHaveProperty('example')
    if (endpoint.pending)
      expect(
        v.safeParse(endpoint.response, responses['202']?.content?.['application/json']?.example)
          .issues,
      ).toBeUndefined()
    if (endpoint.body) expect(requestBody?.content['application/json']).toHaveProperty('example')
    const shown = Object.values(responses).flatMap(({ content }) =>
      Object.keys(content?.['application/json']?.examples ?? {}),
    )
    expect(shown).toEqual(expect.arrayContaining([...commonProblems, ...endpoint.problems]))
    expect(shown.length).toBe(new Set(shown).size)
  })

  test('describes no part of a message with an empty schema', () => {
    const operation = operationOf(endpoint)
    // `additionalProperties: {}` says "anything" on purpose; an example shows facts without parameters.
    const text = JSON.stringify(operation)
      .replaceAll('"additionalProperties":{}', '')
      .replaceAll('"params":{}', '')
    expect(text).not.toMatch(/"\w+":\{\}|[[,]\{\}/)
  })

  test('every query parameter is described, with the bounds that are checked', () => {
    if (!endpoint.query || !('entries' in endpoint.query)) return
    const entries = endpoint.query.entries as Record<string, v.GenericSchema>
    for (const [parameter, schema] of Object.entries(entries)) {
      const known = queryParameters[parameter]?.schema
      expect(known, parameter).toBeDefined()
      const described = operationOf(endpoint).parameters?.find(({ name }) => name === parameter)
      expect(described?.required, parameter).toBe(!v.safeParse(schema, undefined).success)
      const accepts = (value: number) => v.safeParse(schema, String(value)).success
      const { minimum, maximum, default: preset } = known ?? {}
      if (typeof minimum === 'number' && typeof maximum === 'number') {
        expect([
          parameter,
          accepts(minimum),
          accepts(maximum),
          accepts(minimum - 1),
          accepts(maximum + 1),
        ]).toEqual([parameter, true, true, false, false])
      }
      if (preset !== undefined)
        expect([
          parameter,
          v.getDefault(schema as v.OptionalSchema<v.GenericSchema, unknown>),
        ]).toEqual([parameter, String(preset)])
    }
  })
})

test('the introduction names each key of the event stream', () => {
  const introduction = JSON.stringify(api.info)
  const keys = Object.keys(EVENT_KEYS)
  expect(keys.filter((key) => !introduction.includes(`\`${key}\` (`))).toEqual([])
})

test('each operator and each special status of a search is described', () => {
  const described = queryParameters['q']?.description ?? ''
  const names = [...Object.keys(SEARCH_OPERATORS).map((name) => `${name}:`), 'status:incomplete']
  expect(names.filter((name) => !described.includes(name))).toEqual([])
})

test('every problem there is has an example, in the envelope that is described', () => {
  const { examples: shown, schemas } = api.components as {
    examples: Record<string, { value: unknown }>
    schemas: { Error: JsonSchema }
  }
  expect(Object.keys(shown)).toEqual(Object.keys(problems))
  for (const [code, { value }] of Object.entries(shown)) {
    expect(violations(schemas.Error, { value, at: code })).toEqual([])
    expect(value).toMatchObject({ error: { code } })
  }
})

test('the reasons of a refusal are described by code and parameters, and nothing else passes for one', () => {
  const { examples: shown, schemas } = api.components as {
    examples: Record<string, { value: { error: object } }>
    schemas: { Error: JsonSchema }
  }
  const withReason = (reason: unknown) => {
    const value = structuredClone(shown['INVALID_RECIPIENT']?.value)
    return { ...value, error: { ...value?.error, details: { reason } } }
  }
  const samples = [
    recipientSamples,
    balanceSamples,
    senderSamples,
    assetSamples,
    limitSamples,
  ].flatMap((each): Reason[] => Object.values(each))
  for (const reason of samples)
    expect(
      violations(schemas.Error, { value: withReason(toWire(reason)), at: reason.code }),
    ).toEqual([])
  expect(
    violations(schemas.Error, {
      value: withReason({ code: 'payee_not_owned', params: {} }),
      at: 'payee_not_owned',
    }),
  ).toEqual([])
  for (const reason of [
    { code: 'new_code', params: {} },
    { code: 'below_rent_minimum', params: {} },
    'payee_not_owned',
    7,
  ])
    expect(violations(schemas.Error, { value: withReason(reason), at: 'reason' })).not.toEqual([])
})

test('every reference in the document leads somewhere', () => {
  const text = JSON.stringify(api)
  const targets = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? '')
  expect(targets.length).toBeGreaterThan(0)
  for (const target of new Set(targets)) {
    const found = target
      .split('/')
      .reduce<unknown>(
        (node, key) =>
          typeof node === 'object' && node !== null
            ? Object.entries(node).find(([name]) => name === key)?.[1]
            : undefined,
        api,
      )
    expect(found, target).toBeDefined()
  }
})

test.each(['/health/live', '/health/ready'])(
  '%s is described as what it is: without a key, each answer with its example',
  (path) => {
    const operation = paths[path]?.get
    expect(operation).toMatchObject({ security: [] })
    for (const { content } of Object.values(operation?.responses ?? {})) {
      for (const { schema, example } of Object.values(content ?? {}))
        expect(violations(schema as JsonSchema, { value: example, at: path })).toEqual([])
    }
  },
)

test('endpoints are grouped in the order people look for them, and what operators monitor comes last', () => {
  const named = (api.tags as { name: string }[]).map(({ name }) => name)
  const used = new Set(
    Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap((operation) => (operation as { tags?: string[] }).tags ?? []),
    ),
  )
  expect(named.toSorted()).toEqual([...used].toSorted())
  expect([named[0], named.at(-1)]).toEqual(['payment', 'operations'])
  expect(Object.keys(paths).slice(-2)).toEqual(['/health/live', '/health/ready'])
})
