import { describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { browserEndpoints } from './browser-endpoints.ts'
import { endpoints } from './endpoints.ts'
import { SocketRequest } from './event.ts'

/** Every text that a caller can send, in every row of every table: none may be of any length, and none may hold a NUL character, which Postgres cannot store. */

interface Schema {
  type: string
  pipe?: readonly Schema[]
  entries?: Record<string, Schema>
  options?: readonly (Schema | string | number)[]
  items?: readonly Schema[]
  wrapped?: Schema
  item?: Schema
}

/** Objects whose fields nobody lists. Metadata is bounded, and kept as the text that was sent; x402's are read by the programs that settle. */
const FREE_FORM = new Set([
  'paymentSend body.metadata',
  'transactionSend body.metadata',
  'paymentRefund body.metadata',
  'transactionRefund body.metadata',
])
const CHECKED_WHOLE = /^facilitator(Verify|Settle) body\.payment(Payload|Requirements)$/

/** A schema is known by its fields; valibot's own types hide the ones that a walk needs. */
function asSchema(schema: unknown): Schema {
  return schema as Schema
}

function* textFields(schema: Schema, place: string): Generator<[place: string, schema: Schema]> {
  const base = schema.pipe?.[0] ?? schema
  if (base.type === 'string') yield [place, schema]
  else if (base.type === 'record' || base.type === 'custom' || base.type === 'any')
    yield [place, schema]
  // `unknown` before an object is only looked at.
  else if (base.type === 'unknown')
    for (const next of schema.pipe?.slice(1) ?? []) yield* textFields(next, place)
  for (const [name, entry] of Object.entries(base.entries ?? {}))
    yield* textFields(entry, `${place}.${name}`)
  if (base.wrapped) yield* textFields(base.wrapped, place)
  if (base.item) yield* textFields(base.item, `${place}[]`)
  for (const item of base.items ?? []) yield* textFields(item, `${place}[]`)
  for (const option of base.options ?? [])
    if (typeof option === 'object') yield* textFields(option, place)
}

const rows = [
  ...Object.entries({ ...endpoints, ...browserEndpoints }).flatMap(([name, row]) =>
    (['params', 'query', 'body'] as const).flatMap((part) =>
      part in row
        ? [
            ...textFields(
              asSchema(Object.entries(row).find(([key]) => key === part)?.[1]),
              `${name} ${part}`,
            ),
          ]
        : [],
    ),
  ),
  ...textFields(asSchema(SocketRequest), 'GET /ws'),
]
const texts = rows.filter(([place]) => !FREE_FORM.has(place) && !CHECKED_WHOLE.test(place))

function accepts(schema: Schema, value: unknown): boolean {
  return v.safeParse(schema as unknown as v.GenericSchema, value).success
}

test('the walk finds the fields', () => {
  expect(rows.length).toBeGreaterThan(80)
  expect(rows.map(([place]) => place)).toEqual(
    expect.arrayContaining([
      'sessionCreate body.id',
      'hostedSend body.nonce',
      'paymentList query.wallets',
      'noteWrite body.addLabels[]',
      'relay body.headers[][]',
    ]),
  )
  expect(
    new Set(
      rows
        .filter(([, schema]) => schema.pipe?.[0]?.type !== 'string' && schema.type !== 'string')
        .map(([place]) => place),
    ),
  ).toEqual(
    new Set([
      ...FREE_FORM,
      ...rows.map(([place]) => place).filter((place) => CHECKED_WHOLE.test(place)),
    ]),
  )
})

/** The same for each schema, and half of the fields share theirs with another one. */
function oncePerSchema(find: (schema: Schema) => string[]): (schema: Schema) => string[] {
  const found = new Map<Schema, string[]>()
  return (schema) => {
    const texts = found.get(schema) ?? find(schema)
    found.set(schema, texts)
    return texts
  }
}

const acceptedWithNul = oncePerSchema((schema) =>
  ['', 'a', 'http://a.example/', '0', '1.5', 'pay_', 'eip155:1', 'ETH'].filter(
    (text) =>
      accepts(schema, `${text}\0`) || accepts(schema, `\0${text}`) || accepts(schema, `${text}\0b`),
  ),
)
const endings = ['a', '0'].map((character) => character.repeat(300_000))
const acceptedWithoutEnd = oncePerSchema((schema) =>
  ['a', '0', 'http://a.example/', 'Z1', 'ETH,'].filter((text) =>
    endings.some((ending) => accepts(schema, text + ending)),
  ),
)

describe.each(texts)('%s', (_, schema) => {
  test('takes no NUL character', () => {
    expect(acceptedWithNul(schema)).toEqual([])
  })
  test('has a longest text', () => {
    expect(acceptedWithoutEnd(schema)).toEqual([])
  })
})

test.each(rows.filter(([place]) => CHECKED_WHOLE.test(place)))(
  '%s takes no NUL character at any depth',
  (_, schema) => {
    expect(accepts(schema, { a: [{ b: 'c' }] })).toBe(true)
    expect(accepts(schema, { a: [{ b: 'c\0' }] })).toBe(false)
    expect(accepts(schema, { a: [{ 'b\0': 1 }] })).toBe(false)
  },
)
