import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { formatAmount, parseAmount } from '#contract/amount.ts'
import { SignerConfigError } from './config.ts'
import { refuseSigning, type Spending } from './read-transaction.ts'

const ANY = '*'
const DECIMAL = /^(0|[1-9][0-9]*)(\.[0-9]+)?$/

const address = v.pipe(
  v.string(),
  v.check((text) => parseAddress(text).ok, 'Expected an address.'),
  v.transform((text) => {
    const parsed = parseAddress(text)
    return parsed.ok ? parsed.address : text
  }),
)
/** A decimal text in the native currency, `0` included. Nine decimals: what every network has. */
const cap = v.pipe(
  v.string('Expected a decimal number in quotes.'),
  v.regex(DECIMAL, 'Expected a decimal number such as "0.5".'),
  v.check(
    (text) => (text.split('.')[1] ?? '').length <= 9,
    'Expected at most 9 digits after the point.',
  ),
)

const Rule = v.strictObject({
  wallet: v.union([v.literal(ANY), address], 'Expected an address of a wallet, or *.'),
  network: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^(\*|solana|eip155:[1-9][0-9]*)$/,
        'Expected eip155:<chain id>, solana or *. A Solana transaction does not name its cluster.',
      ),
    ),
    ANY,
  ),
  asset: v.optional(
    v.literal('native', 'Expected native: the signer pays no tokens from managed wallets.'),
    'native',
  ),
  maxPerPayment: v.optional(cap),
  maxPerDay: v.optional(cap),
  maxFee: v.optional(cap),
  recipients: v.optional(v.array(address)),
  settlements: v.optional(v.boolean()),
})
const Policy = v.strictObject({
  rules: v.pipe(v.array(Rule), v.minLength(1, 'Expected at least one rule.')),
})
/** The operator's limits. Every rule that names a wallet and network applies to what it signs there. */
export type Policy = v.InferOutput<typeof Policy>

/** The largest network fee of one transaction where no rule names another, in the native currency. */
export const DEFAULT_MAX_FEE = '0.05'

/**
 * The policy of a file's text.
 * @throws SignerConfigError that names every wrong field
 */
export function parsePolicy(text: string): Policy {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new SignerConfigError('SIGNER_POLICY_FILE: expected JSON.', { cause: error })
  }
  const result = v.safeParse(Policy, json)
  if (result.success) return result.output
  const problems = result.issues.map(
    (issue) => `SIGNER_POLICY_FILE: at ${v.getDotPath(issue) ?? 'its start'}: ${issue.message}`,
  )
  throw new SignerConfigError(problems.join('\n'))
}

const Frozen = v.strictObject({ all: v.boolean(), wallets: v.array(address) })
/** What signs nothing until the operator ends it: single wallets, or all. */
export type Frozen = v.InferOutput<typeof Frozen>

const FROZEN_FILE = 'frozen.json'

/** @throws SignerConfigError for a file that holds something else: what is frozen is then unknown, and nothing is signed */
export function readFrozen(folder: string): Frozen {
  const file = join(folder, FROZEN_FILE)
  try {
    return existsSync(file)
      ? v.parse(Frozen, JSON.parse(readFileSync(file, 'utf8')))
      : { all: false, wallets: [] }
  } catch (error) {
    throw new SignerConfigError(`${file}: expected what npm run signer -- freeze writes.`, {
      cause: error,
    })
  }
}

/** What root writes into the folder of the signer belongs to the signer, who must read it. */
export function giveToOwner(folder: string, file: string): void {
  const { uid, gid } = statSync(folder)
  if (process.getuid?.() === 0 && uid !== 0) chownSync(file, uid, gid)
}

/** Whole or not at all, and on the disk when it returns: a signer that runs reads it before each signature. */
export function writeFrozen(folder: string, frozen: Frozen): void {
  const file = join(folder, FROZEN_FILE)
  writeFileSync(`${file}.new`, `${JSON.stringify(frozen)}\n`, { mode: 0o600, flush: true })
  giveToOwner(folder, `${file}.new`)
  renameSync(`${file}.new`, file)
  const names = openSync(folder, 'r')
  fsyncSync(names)
  closeSync(names)
}

/**
 * Reads both files before every signature: a change takes effect without a restart, and a file that cannot be read stops signing.
 * @returns the rules as they are now; undefined without a policy file
 */
export function createPolicyReader(
  folder: string,
  file: string | undefined,
): () => { policy: Policy | undefined; frozen: Frozen } {
  let last: { text: string; policy: Policy } | undefined
  return () => {
    const frozen = readFrozen(folder)
    if (file === undefined) return { policy: undefined, frozen }
    const text = readText(file)
    if (last?.text !== text) last = { text, policy: parsePolicy(text) }
    return { policy: last.policy, frozen }
  }
}

const FOREIGN_WRITE_BITS = 0o022

/** @throws SignerConfigError also for a file that another user may change: the program that asks for signatures must not set its limits */
function readText(file: string): string {
  try {
    const { mode, uid } = statSync(file)
    if ((mode & FOREIGN_WRITE_BITS) !== 0 || (uid !== 0 && uid !== process.getuid?.()))
      throw new SignerConfigError(
        `SIGNER_POLICY_FILE: expected a file that belongs to root or to the user of the signer, and that nobody else may write (chmod 644 ${file}).`,
      )
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof SignerConfigError) throw error
    throw new SignerConfigError(
      `SIGNER_POLICY_FILE: expected a file that can be read, received ${JSON.stringify(file)}.`,
      { cause: error },
    )
  }
}

/** @throws `SIGNING_REFUSED` for a wallet that is frozen */
export function requireNotFrozen(frozen: Frozen, wallet: string): void {
  if (!frozen.all && !frozen.wallets.includes(wallet)) return
  throw refuseSigning(`The operator has frozen ${frozen.all ? 'all wallets' : 'this wallet'}.`, {
    reason: 'frozen',
    walletAddress: wallet,
    scope: frozen.all ? 'all' : 'wallet',
  })
}

/**
 * Compares what a transaction would cost with the limits. Network fees count towards the day, as what the network may charge at most; `maxPerPayment` is
 * compared with the amount alone.
 * @param spentAtomic what the wallet has signed on this network in the last 24 hours, without this payment
 * @throws `SIGNING_REFUSED` with the limit and what was asked, in the native currency
 */
export function requireWithin(
  policy: Policy | undefined,
  wallet: string,
  { spending, outflowAtomic }: { spending: Spending; outflowAtomic: bigint },
): void {
  const { network, recipient, amountAtomic, feeAtomic, decimals, kind } = spending
  const where = { walletAddress: wallet, network }
  const format = (atomic: bigint) => formatAmount(atomic, decimals)
  const rules = policy?.rules.filter(
    (rule) =>
      (rule.wallet === ANY || rule.wallet === wallet) &&
      (rule.network === ANY || rule.network === network),
  )
  if (rules?.length === 0)
    throw refuseSigning('No rule of the signing policy names this wallet on this network.', {
      reason: 'no_rule',
      ...where,
    })
  const fees = rules?.flatMap(({ maxFee = [] }) => maxFee) ?? []
  for (const maxFee of fees.length > 0 ? fees : [DEFAULT_MAX_FEE]) {
    if (feeAtomic <= atomicOf(maxFee, decimals)) continue
    throw refuseSigning(
      `The network fee may be up to ${format(feeAtomic)}, and one transaction may pay ${maxFee}.`,
      { reason: 'over_fee', limit: maxFee, asked: format(feeAtomic), ...where },
    )
  }
  for (const { maxPerPayment, maxPerDay, recipients, settlements } of rules ?? []) {
    if (kind === 'settlement' && settlements === false)
      throw refuseSigning('The signing policy lets this wallet settle no payments of others.', {
        reason: 'no_settlements',
        ...where,
      })
    if (recipient !== null && recipients && !recipients.includes(recipient))
      throw refuseSigning('The recipient is not on the allow-list of this wallet.', {
        reason: 'recipient',
        asked: recipient,
        ...where,
      })
    if (maxPerPayment !== undefined && amountAtomic > atomicOf(maxPerPayment, decimals))
      throw refuseSigning(
        `One payment from this wallet may be up to ${maxPerPayment}, asked for ${format(amountAtomic)}.`,
        { reason: 'over_payment', limit: maxPerPayment, asked: format(amountAtomic), ...where },
      )
    const total = amountAtomic + feeAtomic
    if (maxPerDay !== undefined && outflowAtomic + total > atomicOf(maxPerDay, decimals))
      throw refuseSigning(
        `This wallet may pay ${maxPerDay} in 24 hours, fees included. It has signed ${format(outflowAtomic)}, asked for ${format(total)}.`,
        {
          reason: 'over_day',
          limit: maxPerDay,
          asked: format(total),
          signed: format(outflowAtomic),
          ...where,
        },
      )
  }
}

function atomicOf(text: string, decimals: number): bigint {
  const parsed = parseAmount(text, decimals)
  return parsed.ok ? parsed.atomic : 0n
}
