import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { PLANS, SCOPES, type Plan, type Scope } from '#contract/api-key-body.ts'
import type { Network } from '#contract/network.ts'
import type { BackupSource } from '#postgres/backup.ts'
import type { Database } from '#postgres/open.ts'
import type { Signer } from '#signer/protocol.ts'

/** A command line that cannot be followed; told without a stack. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** What a command found: for programs the value, for people the text. */
export type CommandReport = { value: unknown; text: string }

const OPTIONS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  account: { type: 'string' },
  scopes: { type: 'string' },
  environment: { type: 'string' },
  expires: { type: 'string' },
  'requests-per-minute': { type: 'string' },
  key: { type: 'string' },
  grace: { type: 'string' },
  family: { type: 'string' },
  'secret-file': { type: 'string' },
  wallet: { type: 'string' },
  accept: { type: 'string' },
  unchecked: { type: 'boolean' },
  network: { type: 'string' },
  facilitators: { type: 'string' },
  file: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

export type CommandLine = ReturnType<typeof parseCommandLine>
export type Values = CommandLine['values']

/** What commands work with; the signer is opened, and the networks are read, by those that need them. */
export type Operator = {
  db: Database
  signer: () => Promise<Signer>
  now: Date
  /** Those of the service, where its environment is here too. */
  networks?: () => readonly Pick<Network, 'testnet'>[] | undefined
}

export type Command = {
  options: readonly (keyof Values)[]
  /** The one command that may open a database whose server was replaced. */
  declaresRestore?: boolean
  run: (operator: Operator, values: Values) => Promise<CommandReport>
}
export type Commands = Readonly<Record<string, Command>>

/** Works on a database that it opens itself, so that nothing migrates it before. */
export type ClosedCommand = {
  options: readonly (keyof Values)[]
  runClosed: (source: BackupSource, values: Values) => Promise<CommandReport>
}
export type ClosedCommands = Readonly<Record<string, ClosedCommand>>

/** @throws UsageError */
export function parseCommandLine(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
      strict: true,
    })
    return { command: positionals.join(' '), values }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** One option, read by its schema. */
export function read<S extends v.GenericSchema>(
  values: Values,
  option: keyof Values,
  [schema, expected]: [S, string],
): v.InferOutput<S> {
  const result = v.safeParse(schema, values[option])
  if (result.success) return result.output
  const received = values[option]
  throw new UsageError(
    `--${option}: expected ${expected}, received ${received === undefined ? 'nothing' : JSON.stringify(received)}.`,
  )
}

const plan = v.picklist(Object.keys(PLANS) as [Plan, ...Plan[]])
const name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(100))
const scopes = v.pipe(
  v.string(),
  v.transform((text) =>
    text === 'all' ? [...SCOPES] : text.split(',').map((scope) => scope.trim()),
  ),
  v.array(v.picklist(SCOPES)),
)
const facilitators = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((url) => url.trim())),
  v.array(v.pipe(v.string(), v.url(), v.regex(/^https?:\/\//))),
)
const PLAN_NAMES = Object.keys(PLANS).join(' or ')
const SCOPE_NAMES = `scopes with commas, or all: ${SCOPES.join(', ')}`

export const readAccount = (values: Values): string =>
  read(values, 'account', [v.string(), 'the id of an account, acc_…'])
export const readKeyId = (values: Values): string =>
  read(values, 'key', [v.string(), 'the id of a key, key_…'])
export const readName = (values: Values): string =>
  read(values, 'name', [name, 'a name of 1 to 100 characters'])
export const readPlan = (values: Values): Plan => read(values, 'plan', [plan, PLAN_NAMES])
export const readPlanOr = (values: Values, otherwise: Plan): Plan =>
  read(values, 'plan', [v.optional(plan, otherwise), PLAN_NAMES])
export const readScopes = (values: Values): Scope[] => read(values, 'scopes', [scopes, SCOPE_NAMES])
/** Left out or `all`: everything. */
export const readPermitted = (values: Values): Scope[] | null =>
  values.scopes === undefined || values.scopes === 'all'
    ? null
    : read(values, 'scopes', [scopes, SCOPE_NAMES])
/** `default`: those of the service's configuration. */
export const readFacilitators = (values: Values): string[] | null =>
  values.facilitators === 'default'
    ? null
    : read(values, 'facilitators', [facilitators, 'URLs of facilitators with commas, or default'])
