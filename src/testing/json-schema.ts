/**
 * Says where a value departs from a JSON Schema (2020-12), independent of the validators of the product. It knows the keywords that the service's
 * description uses and refuses any other: a keyword that is overlooked would be a check that is not made.
 */

export type JsonSchema = Readonly<Record<string, unknown>>
type Check = (rule: unknown, value: unknown, place: Place) => string[]
type Place = { root: JsonSchema; schema: JsonSchema; at: string }

const ANNOTATIONS = new Set(['description', 'default', 'example', 'examples', 'title', '$schema'])

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  uri: (text) => URL.canParse(text),
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

const CHECKS: Readonly<Record<string, Check>> = {
  $ref: (rule, value, { root, at }) => violations(root, follow(root, String(rule)), { value, at }),
  type: (rule, value, { at }) =>
    unless(
      [rule].flat().some((type) => knownType(String(type))(value)),
      at,
      `expected ${String(rule)}`,
    ),
  const: (rule, value, { at }) => unless(value === rule, at, `expected ${JSON.stringify(rule)}`),
  enum: (rule, value, { at }) =>
    unless(asList(rule).includes(value), at, `expected one of ${JSON.stringify(rule)}`),
  anyOf: (rule, value, { root, at }) =>
    unless(
      asList(rule).some((one) => violations(root, asSchema(one), { value, at }).length === 0),
      at,
      'expected one of the alternatives',
    ),
  oneOf: (rule, value, { root, at }) =>
    unless(
      asList(rule).filter((one) => violations(root, asSchema(one), { value, at }).length === 0)
        .length === 1,
      at,
      'expected exactly one of the alternatives',
    ),
  properties: (rule, value, { root, at }) =>
    isObject(value)
      ? Object.entries(asSchema(rule)).flatMap(([name, own]) =>
          name in value
            ? violations(root, asSchema(own), { value: value[name], at: `${at}.${name}` })
            : [],
        )
      : [],
  required: (rule, value, { at }) =>
    isObject(value)
      ? asList(rule).flatMap((name) =>
          unless(String(name) in value, at, `expected ${String(name)}`),
        )
      : [],
  additionalProperties: (rule, value, { root, schema, at }) => {
    if (!isObject(value)) return []
    const others = Object.keys(value).filter((name) => !(name in asSchema(schema.properties ?? {})))
    if (rule === false) return unless(others.length === 0, at, `expected no ${others.join(', ')}`)
    return rule === true
      ? []
      : others.flatMap((name) =>
          violations(root, asSchema(rule), { value: value[name], at: `${at}.${name}` }),
        )
  },
  propertyNames: (rule, value, { root, at }) =>
    isObject(value)
      ? Object.keys(value).flatMap((name) =>
          violations(root, asSchema(rule), { value: name, at: `${at}.${name}` }),
        )
      : [],
  items: (rule, value, { root, at }) =>
    Array.isArray(value)
      ? value.flatMap((item, index) =>
          violations(root, asSchema(rule), { value: item, at: `${at}.${index}` }),
        )
      : [],
  maxItems: (rule, value, { at }) =>
    unless(
      !Array.isArray(value) || value.length <= Number(rule),
      at,
      `expected at most ${String(rule)} items`,
    ),
  minItems: (rule, value, { at }) =>
    unless(
      !Array.isArray(value) || value.length >= Number(rule),
      at,
      `expected at least ${String(rule)} items`,
    ),
  maxProperties: (rule, value, { at }) =>
    unless(
      !isObject(value) || Object.keys(value).length <= Number(rule),
      at,
      `expected at most ${String(rule)} fields`,
    ),
  pattern: (rule, value, { at }) =>
    unless(
      typeof value !== 'string' || new RegExp(String(rule), 'u').test(value),
      at,
      `expected ${String(rule)}`,
    ),
  maxLength: (rule, value, { at }) =>
    unless(
      typeof value !== 'string' || value.length <= Number(rule),
      at,
      `expected at most ${String(rule)} characters`,
    ),
  minLength: (rule, value, { at }) =>
    unless(
      typeof value !== 'string' || value.length >= Number(rule),
      at,
      `expected at least ${String(rule)} characters`,
    ),
  minimum: (rule, value, { at }) =>
    unless(
      typeof value !== 'number' || value >= Number(rule),
      at,
      `expected at least ${String(rule)}`,
    ),
  maximum: (rule, value, { at }) =>
    unless(
      typeof value !== 'number' || value <= Number(rule),
      at,
      `expected at most ${String(rule)}`,
    ),
  format: (rule, value, { at }) =>
    unless(
      typeof value !== 'string' || knownFormat(String(rule))(value),
      at,
      `expected the format ${String(rule)}`,
    ),
}

export function violations(
  root: JsonSchema,
  schema: JsonSchema,
  { value, at }: { value: unknown; at: string },
): string[] {
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    if (ANNOTATIONS.has(keyword)) return []
    const check = CHECKS[keyword]
    if (!check) throw new Error(`The keyword ${keyword} at ${at} is not known here.`)
    return check(rule, value, { root, schema, at })
  })
}

function follow(root: JsonSchema, reference: string): JsonSchema {
  return reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<JsonSchema>((node, key) => asSchema(node[key]), root)
}

function knownType(name: string): (value: unknown) => boolean {
  const type = TYPES[name]
  if (!type) throw new Error(`The type ${name} is not known here.`)
  return type
}

function knownFormat(name: string): (text: string) => boolean {
  const format = FORMATS[name]
  if (!format) throw new Error(`The format ${name} is not known here.`)
  return format
}

function unless(holds: boolean, at: string, expected: string): string[] {
  return holds ? [] : [`${at}: ${expected}`]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asSchema(value: unknown): JsonSchema {
  if (!isObject(value)) throw new Error(`Expected a schema, received ${JSON.stringify(value)}.`)
  return value
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`Expected a list, received ${JSON.stringify(value)}.`)
  return value
}
