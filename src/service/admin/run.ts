import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { PLANS, SCOPES, type Plan } from '#contract/api-key.ts'
import type { Family } from '#contract/address.ts'
import type { Database } from '#postgres/open.ts'
import { createAccount } from '../keys/create-account.ts'
import { createKey } from '../keys/create-key.ts'
import { listKeys } from '../keys/list-keys.ts'
import { revokeKey } from '../keys/revoke-key.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { listWallets } from '../wallets/list-wallets.ts'
import { readSecret } from '../wallets/read-secret.ts'
import type { KeyVault } from '../wallets/vault.ts'

/** A command line that cannot be followed; told without a stack. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** What a command found: for programs the value, for people the text. */
export type Report = { value: unknown; text: string }

const OPTIONS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  account: { type: 'string' },
  scopes: { type: 'string' },
  environment: { type: 'string' },
  expires: { type: 'string' },
  key: { type: 'string' },
  family: { type: 'string' },
  'secret-file': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

export type CommandLine = ReturnType<typeof parseCommandLine>

/** @throws UsageError */
export function parseCommandLine(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true })
    return { command: positionals.join(' '), values }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** What commands work with; the vault is opened by those that need it. */
export type Operator = { db: Database; vault: () => KeyVault; now: Date }

type Command = { options: readonly string[]; run: (operator: Operator, values: CommandLine['values']) => Promise<Report> }

const PLAN_NAMES = Object.keys(PLANS).join(' or ')

const plan = v.picklist(Object.keys(PLANS) as [Plan, ...Plan[]])
const name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(100))
const scopes = v.pipe(
  v.string(),
  v.transform((text) => (text === 'all' ? [...SCOPES] : text.split(',').map((scope) => scope.trim()))),
  v.array(v.picklist(SCOPES)),
)
const expires = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/),
  v.transform((text) => new Date(text)),
  v.check((date) => !Number.isNaN(date.getTime())),
)

const commands: Readonly<Record<string, Command>> = {
  'account create': {
    options: ['name', 'plan'],
    async run({ db }, values) {
      const input = { name: read(values, 'name', [name, 'a name of 1 to 100 characters']), plan: read(values, 'plan', [plan, PLAN_NAMES]) }
      const { id } = await createAccount(db, input)
      return { value: { id, ...input }, text: `Account ${id} (${input.name}, ${input.plan}) is open.` }
    },
  },
  'key create': {
    options: ['account', 'name', 'scopes', 'plan', 'environment', 'expires'],
    async run({ db, now }, values) {
      const input = {
        accountId: read(values, 'account', [v.string(), 'the id of an account, acc_…']),
        name: read(values, 'name', [name, 'a name of 1 to 100 characters']),
        scopes: read(values, 'scopes', [scopes, `scopes with commas, or all: ${SCOPES.join(', ')}`]),
        plan: read(values, 'plan', [v.optional(plan, 'standard'), PLAN_NAMES]),
        environment: read(values, 'environment', [v.optional(v.picklist(['live', 'test']), 'live'), 'live or test']),
        expiresAt: read(values, 'expires', [v.optional(expires), 'a date such as 2027-01-31']),
      }
      if (input.expiresAt && input.expiresAt <= now) throw new UsageError('--expires: expected a date to come.')
      const created = await createKey(db, input)
      return { value: { ...created, ...input }, text: `Key ${created.id}. It is shown this once:\n\n${created.key}\n` }
    },
  },
  'key list': {
    options: ['account'],
    async run({ db }, values) {
      const keys = await listKeys(db, values.account)
      const lines = keys.map((key) => {
        const state = key.revokedAt ? `revoked ${key.revokedAt.toISOString()}` : key.expiresAt ? `expires ${key.expiresAt.toISOString()}` : 'valid'
        return [
          key.id,
          key.hint,
          key.plan,
          key.accountId,
          `"${key.name}"`,
          key.scopes.join(','),
          state,
          `used ${key.lastUsedAt?.toISOString() ?? 'never'}`,
        ].join('  ')
      })
      return { value: keys, text: lines.join('\n') || 'There are no keys.' }
    },
  },
  'key revoke': {
    options: ['key'],
    async run({ db, now }, values) {
      const id = read(values, 'key', [v.string(), 'the id of a key, key_…'])
      await revokeKey(db, id, now)
      return { value: { id, revoked: true }, text: `Key ${id} is revoked.` }
    },
  },
  'wallet create': {
    options: ['account', 'family', 'name'],
    async run({ db, vault, now }, values) {
      const wallet = await createWallet({ db, vault: vault(), now }, readWallet(values))
      return { value: wallet, text: `The service signs for ${wallet.address} from now on (${wallet.id}).` }
    },
  },
  'wallet import': {
    options: ['account', 'family', 'name', 'secret-file'],
    async run({ db, vault, now }, values) {
      const input = readWallet(values)
      const file = read(values, 'secret-file', [v.string(), 'a file with the private key, or - for standard input'])
      const wallet = await createWallet({ db, vault: vault(), now }, { ...input, secret: readSecretFile(input.family, file) })
      return { value: wallet, text: `The service signs for ${wallet.address} from now on (${wallet.id}). Remove the file.` }
    },
  },
  'wallet list': {
    options: ['account'],
    async run({ db }, values) {
      const wallets = await listWallets(db, values.account)
      return { value: wallets, text: wallets.map((wallet) => `${describeWallet(wallet)}  ${wallet.accountId}`).join('\n') || 'There are no wallets.' }
    },
  },
}

function readWallet(values: CommandLine['values']) {
  return {
    accountId: read(values, 'account', [v.string(), 'the id of an account, acc_…']),
    family: read(values, 'family', [v.picklist(['evm', 'solana']), 'evm or solana']),
    name: read(values, 'name', [name, 'a name of 1 to 100 characters']),
  }
}

/** A secret on a command line would stand in the list of processes. */
function readSecretFile(family: Family, file: string): Uint8Array {
  const secret = readSecret(family, readFileSync(file === '-' ? 0 : file, 'utf8'))
  if (secret) return secret
  const expected = family === 'evm' ? '32 bytes in hex' : 'base58 of 64 bytes, or the array of a keypair file'
  throw new UsageError(`--secret-file: expected the private key of a wallet on ${family}, ${expected}.`)
}

function describeWallet({ id, family, address, name }: { id: string; family: Family; address: string; name: string }): string {
  return [id, family, address, `"${name}"`].join('  ')
}

/** @throws UsageError for an unknown command or an option that is not its own */
export function findCommand({ command, values }: CommandLine): Command {
  const found = commands[command]
  if (!found)
    throw new UsageError(`${command ? `There is no command "${command}"` : 'A command is missing'}. Expected one of: ${Object.keys(commands).join(', ')}.`)
  for (const option of Object.keys(values)) {
    if (option !== 'json' && !found.options.includes(option))
      throw new UsageError(`${command} takes no --${option}. It takes ${found.options.map((own) => `--${own}`).join(', ')}.`)
  }
  return found
}

/** One option, read by its schema. */
function read<S extends v.GenericSchema>(
  values: CommandLine['values'],
  option: keyof CommandLine['values'],
  [schema, expected]: [S, string],
): v.InferOutput<S> {
  const result = v.safeParse(schema, values[option])
  if (result.success) return result.output
  const received = values[option]
  throw new UsageError(`--${option}: expected ${expected}, received ${received === undefined ? 'nothing' : JSON.stringify(received)}.`)
}
