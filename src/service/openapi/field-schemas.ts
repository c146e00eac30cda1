import { toJsonSchema } from '@valibot/to-json-schema'
import { variant, type GenericSchema } from 'valibot'
import {
  address,
  atomic,
  decimal,
  metadata,
  MOST_PAYMENT_IDS,
  paymentId,
  plainNumber,
  resource,
  timestamp,
} from '#contract/fields.ts'
import { CUSTOMER_SORTS } from '#contract/customer-endpoints.ts'
import { CheckFact } from '#contract/facts.ts'
import { DecodeProblem } from '#contract/reasons.ts'
import { WireFact } from '#contract/proof.ts'

export type FieldSchema = Record<string, unknown>

/** What the shared field types look like on the wire; their checks are code, which no converter can read. A pipe is known by its first step. */
const shared = new Map<unknown, FieldSchema>([
  [
    address.pipe[0],
    {
      type: 'string',
      description:
        'EVM (`0x` and 40 hex digits, EIP-55 checked when mixed-case) or Solana (base58 of 32 bytes) address.',
    },
  ],
  [
    atomic.pipe[0],
    {
      type: 'string',
      pattern: '^(0|[1-9][0-9]{0,77})$',
      description: 'Atomic units (wei, lamports) as digits.',
    },
  ],
  [
    decimal.pipe[0],
    { type: 'number', description: 'Read from its digits, never through a double.' },
  ],
  [plainNumber.pipe[0], { type: 'number' }],
  [
    metadata.pipe[0],
    {
      type: 'object',
      maxProperties: 32,
      additionalProperties: true,
      description: 'Free-form, at most 4 KiB and 10 levels.',
    },
  ],
  [paymentId.pipe[0], { type: 'string', pattern: '^pay_[1-9A-HJ-NP-Za-km-z]{22}$' }],
  [
    resource.pipe[0],
    {
      type: 'string',
      format: 'uri',
      maxLength: 2048,
      description: 'URL of the protected resource.',
    },
  ],
  // Readers take any code; the document names those there are.
  [WireFact, { $ref: '#/components/schemas/CheckFact' }],
  [DecodeProblem, { $ref: '#/components/schemas/DecodeProblem' }],
  [timestamp.pipe[0], { type: 'integer', description: 'Unix milliseconds.' }],
])

/** What a field of a body means, where its type alone does not say it. */
export const bodyFields: Readonly<Record<string, string>> = {
  priorityFee:
    'The first offer for the network priority fee, in the native currency; automatic if absent. A transaction that the payer signs is built with no more. An EVM payment from a managed wallet that waits while fees rise is replaced up to five times, each time with a priority fee that is an eighth higher: up to 1.81 times this one. All its gas may cost at most 0.005 and this fee together. On Solana it is never raised.',
}

/** Query parameters are text on the wire; this is what the text must spell. A test holds each against the schema that validates. */
export const queryParameters: Readonly<
  Record<string, { schema: FieldSchema; description: string }>
> = {
  type: {
    schema: { type: 'string', default: 'all' },
    description:
      'Direction, as seen from the wallets that are named; from the wallets of the account otherwise. `internal`: both parties are among them; `external`: neither is.',
  },
  paymentIds: {
    schema: { type: 'string' },
    description: `1 to ${MOST_PAYMENT_IDS} payment ids with commas.`,
  },
  limit: {
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
    description: 'Rows of a page. Out of bounds is refused, never clamped.',
  },
  after: {
    schema: { type: 'string', pattern: '^[0-9]{1,18}$' },
    description: 'The `id` of an event: those after it are listed.',
  },
  state: {
    schema: { type: 'string', enum: ['pending', 'delivered', 'dead'] },
    description: 'Only deliveries in this state.',
  },
  offset: {
    schema: { type: 'integer', minimum: 0, maximum: 1_000_000_000, default: 0 },
    description: 'Rows to skip.',
  },
  cursor: {
    schema: { type: 'string', maxLength: 200 },
    description: '`nextCursor` of the page before, in place of `offset`.',
  },
  status: {
    schema: { type: 'string' },
    description:
      'One status, or several with commas; of paid payments also `refunded` and `partly_refunded`, by `refund.state`. `incomplete`, alone: orders of unverified visitors, which no other list shows.',
  },
  network: { schema: { type: 'string' }, description: 'CAIP-2 id of a configured network.' },
  asset: { schema: { type: 'string' }, description: 'Address or configured symbol of an asset.' },
  owner: {
    schema: { type: 'string' },
    description: 'A wallet address: whose allowance for Permit2 is told.',
  },
  by: {
    schema: { type: 'string', enum: ['created', 'landed'] },
    description:
      'What `since`, `until` and the order go by; `created` where it is not set. `landed`: the time of the block, else of the confirmation; only confirmed, finalized and failed payments are listed.',
  },
  since: {
    schema: { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 },
    description: 'Unix milliseconds, inclusive.',
  },
  until: {
    schema: { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 },
    description: 'Unix milliseconds, exclusive.',
  },
  minAmount: {
    schema: { type: 'string' },
    description: 'Smallest amount, a decimal in the asset.',
  },
  maxAmount: { schema: { type: 'string' }, description: 'Largest amount, a decimal in the asset.' },
  q: {
    schema: { type: 'string', minLength: 1, maxLength: 300 },
    description:
      'A search. Text: a payment id, the words of `metadata` and the beginnings of words, addresses and hashes, the whole `metadata.referenceId`, or the start of the resource. Operators, each once: `amount:>1` (`>=`, `<`, `<=`, `1..5`, `1`; `amount:>1 amount:<5` are two ends of one range), `status:failed,refunded` or `status:incomplete`, `asset:USDC`, `network:eip155:1`, `from:ADDRESS`, `to:ADDRESS`. Quotes make an operator text. `total` then counts up to 1000. Of customers: the start of an address.',
  },
  sort: {
    schema: { type: 'string', enum: [...CUSTOMER_SORTS], default: 'last' },
    description: 'What customers are ordered by, the highest first.',
  },
  wallets: {
    schema: { type: 'string' },
    description: 'Up to 20 addresses with commas; of customers, up to 50.',
  },
  parties: {
    schema: { type: 'string' },
    description:
      'Beside a text in `q`: up to 10 addresses with commas, whose payments the search finds too. For names that only your system knows.',
  },
  period: {
    schema: { type: 'string', enum: ['minute', 'hour', 'day'], default: 'hour' },
    description: 'Length of the periods counted in, UTC.',
  },
  keyId: {
    schema: { type: 'string', pattern: '^key_[1-9A-HJ-NP-Za-km-z]{22}$' },
    description: 'One key of the account.',
  },
  endpoint: {
    schema: { type: 'string', pattern: '^[A-Za-z]{1,60}$' },
    description:
      'Name of an endpoint, its `operationId` here; `unmatched` for paths there are none for.',
  },
  result: {
    schema: { type: 'string', enum: ['2xx', '3xx', '4xx', '5xx', 'error'] },
    description:
      'A class of statuses. `error`: all that were refused or failed, also proofs that a response of status 200 refuses.',
  },
  path: {
    schema: { type: 'string', pattern: '^/[-\\w./:]{0,199}$' },
    description: 'The start of the path.',
  },
  requestId: {
    schema: { type: 'string', pattern: '^[0-9A-Za-z_-]{8,64}$' },
    description: 'The `X-Request-Id` of a response, also `error.requestId`.',
  },
  days: {
    schema: { type: 'integer', minimum: 1, maximum: 366, default: 30 },
    description: 'Days to look back.',
  },
}

/** JSON Schema of what goes over the wire: what a caller sends, and what a handler answers. */
export function wireSchema(schema: GenericSchema): FieldSchema {
  const { $schema: _, ...json } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
    // A copy, because the converter adds the later steps of the pipe to it.
    // The marks of the request log say nothing to a caller.
    ignoreActions: ['metadata'],
    // A copy, because the converter adds the later steps of the pipe to it.
    // Marks for the request log say nothing to a caller.
    overrideAction: ({ valibotAction, jsonSchema }) =>
      valibotAction.type === 'metadata' ? jsonSchema : undefined,
    overrideSchema: ({ valibotSchema }) =>
      shared.has(valibotSchema) ? { ...shared.get(valibotSchema) } : undefined,
  })
  return json
}

/** Why bytes, a text or one of its fields cannot be read, as a component that facts refer to. */
export function decodeProblemSchema(): FieldSchema {
  return {
    description: 'Why bytes, a text or one of its fields cannot be read: a code, never renamed.',
    ...wireSchema(variant('code', DecodeProblem.options)),
  }
}

/** What a check of a proof expected or found, as a component that checks refer to. */
export function checkFactSchema(): FieldSchema {
  return {
    description:
      'A fact of a check: a code, never renamed, and its parameters. Amounts are atomic units with the symbol and the decimals of their asset, times Unix milliseconds. New codes may be added: show the sentence beside a fact whose code you do not know.',
    ...wireSchema(CheckFact),
  }
}
