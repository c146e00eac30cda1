import type { GenericSchema } from 'valibot'
import { PLANS, SCOPES } from '#contract/api-key-body.ts'
import { commonProblems, type Endpoint } from '#contract/endpoint.ts'
import { endpoints, type EndpointName } from '#contract/endpoints.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import type { ProblemCode } from '#contract/problem-codes.ts'
import { ProblemError, errorBody, problems } from '#contract/problem.ts'
import { balanceProblem, recipientProblem } from '#contract/reason-problems.ts'
import {
  AssetReason,
  BalanceReason,
  LimitReason,
  PlainReason,
  RecipientReason,
  SenderReason,
  type ReasonAmount,
} from '#contract/reasons.ts'
import { examples } from './examples.ts'
import {
  checkFactSchema,
  decodeProblemSchema,
  queryParameters,
  wireSchema,
  type FieldSchema,
  bodyFields,
} from './field-schemas.ts'
import { pendingExampleOf } from './pending-examples.ts'

type Example = { request: { params?: object; query?: object; body?: object }; reply: object }

/** What a POST can meet beside the problems of its row: the pipeline refuses before the handler. */
const BODY_PROBLEMS = [
  'UNSUPPORTED_MEDIA_TYPE',
  'PAYLOAD_TOO_LARGE',
] as const satisfies ProblemCode[]

const CODES = Object.keys(problems) as ProblemCode[]

const EXAMPLE_TIME = 1_697_234_567_890
const EXAMPLE_REQUEST_ID = '8a6e0804-2bd0-4672-b79d-d97027f9071a'

/** The API as OpenAPI 3.1, from the table that routes and validates. */
export function describeApi(): FieldSchema {
  const paths: Record<string, Record<string, FieldSchema>> = {}
  for (const [name, endpoint] of Object.entries(endpoints) as [EndpointName, Endpoint][]) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: describeOperation(name, endpoint),
    }
  }
  Object.assign(paths, describeOperations())
  return {
    openapi: '3.1.0',
    tags: TAGS,
    info: {
      title: 'Paydesk payment service',
      version: '1.0.0',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key, \`pk_live_…\` or \`pk_test_…\`. Scopes: ${SCOPES.join(', ')}.`,
        },
      },
      headers: LIMIT_HEADERS,
      responses: {
        RequestTimeout: describeBrokenRequest('The request did not arrive in time.'),
        HeadersTooLarge: describeBrokenRequest(
          'The request line and the headers have more than 16 KiB.',
        ),
      },
      examples: Object.fromEntries(
        CODES.map((code) => [code, { summary: problems[code].title, value: exampleProblem(code) }]),
      ),
      schemas: {
        Error: ERROR_SCHEMA,
        CheckFact: checkFactSchema(),
        RecipientReason: {
          description: 'Why the recipient cannot receive the payment.',
          ...wireSchema(RecipientReason),
        },
        BalanceReason: {
          description: 'Why the balance does not cover the payment. Amounts are atomic units.',
          ...wireSchema(BalanceReason),
        },
        AssetReason: {
          description: 'Why exact amounts of a token cannot be paid.',
          ...wireSchema(AssetReason),
        },
        SenderReason: {
          description: 'Why the wallet cannot pay at all.',
          ...wireSchema(SenderReason),
        },
        LimitReason: {
          description: 'Which limit the amount or the priority fee is beyond.',
          ...wireSchema(LimitReason),
        },
        PlainReason: {
          description:
            'Every other reason: a code without parameters. Those of `INVALID_PAYMENT_PROOF` are among them, and those of the dashboard’s proxy.',
          ...wireSchema(PlainReason),
        },
        DecodeProblem: decodeProblemSchema(),
      },
    },
  }
}

function describeOperation(name: EndpointName, endpoint: Endpoint): FieldSchema {
  const example: Example = examples[name]
  return {
    operationId: name,
    summary: endpoint.summary,
    description: [
      `Needs the scope \`${endpoint.scope}\`${endpoint.keyless ? ', or no key at all where the operator has opened the facilitator' : ''}.`,
      ...(endpoint.secret ? [describeSecret(endpoint.secret)] : []),
    ].join(' '),
    tags: [endpoint.path.split('/')[1]],
    parameters: [
      ...describeParameters('path', endpoint.params, example.request.params),
      ...describeParameters('query', endpoint.query, example.request.query),
      ...(endpoint.method === 'POST' ? [IDEMPOTENCY_KEY] : []),
      ...(endpoint.prefer ? [PREFER] : []),
    ],
    ...(endpoint.body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: describeBody(endpoint.body),
            example: example.request.body,
          },
        },
      },
    }),
    responses: {
      200: {
        description: 'Success',
        headers: limitHeaders(),
        content: {
          'application/json': { schema: wireSchema(endpoint.response), example: example.reply },
        },
      },
      ...(endpoint.pending && {
        202: {
          description: 'Not certain yet: `status` is `pending`.',
          headers: limitHeaders(),
          content: {
            'application/json': {
              schema: wireSchema(endpoint.response),
              example: pendingExampleOf(name),
            },
          },
        },
      }),
      ...describeProblems(endpoint),
      408: { $ref: '#/components/responses/RequestTimeout' },
      431: { $ref: '#/components/responses/HeadersTooLarge' },
    },
  }
}

function describeBody(body: GenericSchema): FieldSchema {
  const { properties, ...schema } = wireSchema(body)
  if (!properties) return schema
  const described = Object.entries(properties as Record<string, FieldSchema>).map(([name, own]) => [
    name,
    name in bodyFields ? { ...own, description: bodyFields[name] } : own,
  ])
  return { ...schema, properties: Object.fromEntries(described) }
}

function describeParameters(
  place: 'path' | 'query',
  schema: GenericSchema | undefined,
  example: object = {},
): FieldSchema[] {
  if (!schema) return []
  const { properties = {}, required = [] } = wireSchema(schema)
  return Object.entries(properties as Record<string, FieldSchema>).map(([name, own]) => {
    const known = place === 'query' ? queryParameters[name] : undefined
    const value: unknown = Object.entries(example).find(([key]) => key === name)?.[1]
    return {
      name,
      in: place,
      required: place === 'path' || (required as string[]).includes(name),
      schema: known ? { ...known.schema, ...('enum' in own && { enum: own.enum }) } : own,
      ...(known && { description: known.description }),
      ...(value !== undefined && {
        example: known?.schema.type === 'integer' ? Number(value) : value,
      }),
    }
  })
}

/** Codes of one status share a response; each code is one example in it. */
function describeProblems(endpoint: Endpoint): Record<string, FieldSchema> {
  const codes = new Set<ProblemCode>([
    ...commonProblems,
    ...(endpoint.body ? BODY_PROBLEMS : []),
    ...endpoint.problems,
    'SERVICE_UNAVAILABLE',
  ])
  const byStatus = Map.groupBy(codes, (code) => problems[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, members]) => [
      String(status),
      {
        description: members
          .map((code) => `\`${code}\`: ${problems[code].title} ${problems[code].hint}`)
          .join('\n\n'),
        headers: {
          ...limitHeaders(),
          ...(status === 429 || status === 503 ? { 'Retry-After': RETRY_AFTER } : {}),
        },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(
              members.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      },
    ]),
  )
}

/** Answered before the request is read: without headers about limits, and the connection ends. */
function describeBrokenRequest(description: string): FieldSchema {
  return {
    description,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: {
          INVALID_PARAMETERS: { $ref: '#/components/examples/INVALID_PARAMETERS' },
        },
      },
    },
  }
}

function describeSecret(secret: string): string {
  return `The field \`${secret}\` of the response is a secret: it is shown once and never stored. With an \`Idempotency-Key\` the request is executed once; a repetition gets 409 \`IDEMPOTENCY_CONFLICT\`, whose details contain the rest of the first response.`
}

function exampleProblem(code: ProblemCode) {
  return errorBody(problemOf(code), EXAMPLE_REQUEST_ID, EXAMPLE_TIME)
}

function problemOf(code: ProblemCode): ProblemError {
  if (code === 'INVALID_RECIPIENT')
    return recipientProblem(EXAMPLE_RECIPIENT_REASON, {
      received: '7vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi',
    })
  if (code === 'INSUFFICIENT_BALANCE') return balanceProblem(EXAMPLE_BALANCE_REASON)
  const { status } = problems[code]
  return new ProblemError(code, status === 429 || status === 503 ? { retryAfter: 2 } : {})
}

const lamports = (amountAtomic: bigint): ReasonAmount => ({
  amountAtomic,
  asset: NATIVE_SOL.address,
  symbol: NATIVE_SOL.symbol,
  decimals: NATIVE_SOL.decimals,
})

const EXAMPLE_RECIPIENT_REASON: RecipientReason = {
  code: 'below_rent_minimum',
  params: { minimum: lamports(890_880n) },
}
const EXAMPLE_BALANCE_REASON: BalanceReason = {
  code: 'amount_and_fee',
  params: {
    required: lamports(1_000_005_000n),
    available: lamports(1_000_000_000n),
    fee: lamports(5_000n),
  },
}

function limitHeaders(): FieldSchema {
  return Object.fromEntries(
    Object.keys(LIMIT_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}

/** In the order in which people look for them. */
const TAGS = [
  { name: 'payment', description: 'Take, send, refund and follow payments' },
  { name: 'payments', description: 'List and sum up payments' },
  { name: 'customers', description: 'Who paid, and how much' },
  { name: 'facilitator', description: 'For the official x402 packages' },
  { name: 'transaction', description: 'Payments that the payer signs' },
  { name: 'webhooks', description: 'Events sent to your server' },
  { name: 'events', description: 'Events after one' },
  { name: 'refund-requests', description: 'Refunds that payers ask for' },
  { name: 'unmatched', description: 'Transfers that are tied to no order' },
  { name: 'undelivered', description: 'Payments whose success nobody was told' },
  { name: 'wallets', description: 'Managed wallets and payout wallets' },
  { name: 'token', description: 'Tokens' },
  { name: 'api-keys', description: 'API keys' },
  { name: 'usage', description: 'Requests of the keys, counted' },
  { name: 'requests', description: 'Requests of the keys, one by one' },
  { name: 'operations', description: 'For monitoring' },
]

const INTRODUCTION = [
  'Payments with x402 in ETH, SOL and tokens. [Guides](/docs/) with examples come first. Every request carries `Authorization: Bearer <API key>`, except those to a facilitator that the operator opened to callers without a key.',
  `Plans: standard ${PLANS.standard.requestsPerMinute} and premium ${PLANS.premium.requestsPerMinute} requests in any 60 seconds, all at once or spread. The plan of an account bounds all of its keys together, the plan of a key bounds that key; the headers \`X-RateLimit-…\` tell the tighter of the two. A request counts for up to 63 seconds; \`Retry-After\` tells when the next one certainly passes.`,
  'Amounts are decimal JSON numbers; read their digits, not a double. Fields that end in `Atomic` are the same in the smallest unit, as text. Times are Unix milliseconds. Unknown fields are refused.',
  'Each of the `checks` of a payment proof says what was expected and what was found twice: `expected` and `got` are English sentences, which may be reworded; `expectedFact` and `gotFact` are the same as codes with parameters, which are never renamed. Checks that an earlier version recorded have sentences alone.',
  'Status changes arrive live over the WebSocket `/ws`: send `{"method":"authenticate","apiKey":"…"}` within 5 seconds, then `{"method":"subscribe","keys":["payments"],"since":"<id of the last event seen>"}`. Keys: `payments` (every change of a status), `verifications` (a proof was found good), `settlements` (the payment of a proof is on its chain), `refundRequests` (a payer asked for a refund, or somebody decided about it), or a wallet address (all four, of its payments). Each message has `type`, `id` and the fields of the status body.',
].join('\n\n')

const RETRY_AFTER = {
  description: 'Seconds until a retry can help.',
  schema: { type: 'integer', minimum: 1 },
}

const LIMIT_HEADERS = {
  'X-Request-Id': { description: 'Names this request in the logs.', schema: { type: 'string' } },
  'X-RateLimit-Limit': {
    description:
      'Requests that pass in any 60 seconds: of the key, or of all keys of the account where fewer are left of those.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Remaining': { description: 'Requests left of them.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Unix seconds at which all of them are left again.',
    schema: { type: 'integer' },
  },
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The same key with the same body gets the first answer again, with `Idempotent-Replayed: true`, unless a retry might improve it (202, 429, 5xx). Kept 30 days.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
}

const PREFER = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description:
    '`wait=N`: how many seconds, up to 60, the answer waits for the confirmation; `respond-async`: not at all. 15 seconds otherwise.',
  schema: { type: 'string' },
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['success', 'error', 'timestamp'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        code: { type: 'string', enum: CODES },
        message: { type: 'string' },
        details: {
          type: 'object',
          additionalProperties: true,
          description:
            'By field: what was expected and what was received; or the figures of the refusal. Of `INVALID_PAYMENT_PROOF`: the `check` that failed, its `expected` and `got` as sentences, `expectedFact` and `gotFact` as codes with parameters (`#/components/schemas/CheckFact`), and all `checks`.',
          properties: {
            reason: {
              description:
                'Why, for programs; `message` says the same in English. Always a code with its parameters, of a closed list; codes are never renamed. Amounts are atomic units as text.',
              anyOf: [
                { $ref: '#/components/schemas/RecipientReason' },
                { $ref: '#/components/schemas/BalanceReason' },
                { $ref: '#/components/schemas/SenderReason' },
                { $ref: '#/components/schemas/AssetReason' },
                { $ref: '#/components/schemas/LimitReason' },
                { $ref: '#/components/schemas/PlainReason' },
              ],
            },
          },
        },
        retryAfter: { type: 'integer', description: 'Seconds until a retry can help.' },
        requestId: { type: 'string' },
      },
    },
    timestamp: { type: 'integer', description: 'Unix milliseconds.' },
    errorReason: {
      type: 'string',
      description:
        'Of `/facilitator/settle` alone, for clients of x402: the code of `details.reason`, or else `code` in small letters. `errorMessage`, `transaction` and `network` are those of a settlement that was not made.',
    },
    errorMessage: { type: 'string' },
    transaction: { const: '' },
    network: { type: 'string' },
  },
}

/** What the operator's tools ask: no key, no limit, and no row of the endpoint table. */

function describeOperations(): Record<string, Record<string, FieldSchema>> {
  const status = (value: string) =>
    ({ type: 'object', required: ['status'], properties: { status: { const: value } } }) as const
  return {
    '/health/live': {
      get: operation('live', 'Whether the process answers', {
        200: json('It does.', { schema: status('ok'), example: { status: 'ok' } }),
      }),
    },
    '/health/ready': {
      get: operation('ready', 'Whether the service can do its work', {
        200: json('It can.', { schema: status('ok'), example: { status: 'ok' } }),
        503: json('It cannot.', {
          schema: status('unavailable'),
          example: { status: 'unavailable' },
        }),
      }),
    },
  }
}

function operation(operationId: string, summary: string, responses: FieldSchema): FieldSchema {
  return { operationId, summary, tags: ['operations'], security: [], parameters: [], responses }
}

function json(description: string, content: { schema: FieldSchema; example: object }): FieldSchema {
  return { description, content: { 'application/json': content } }
}
