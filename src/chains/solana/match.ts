import { SOLANA_NATIVE } from '#contract/address.ts'
import {
  addressFact,
  amountFact,
  fact,
  listFact,
  moneyOf,
  networkFact,
  textFact,
  type MatchFact,
  type MatchItem,
} from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  conclude,
  equalRow,
  refuse,
} from '../match.ts'
import { decodeTransaction, type SolanaFacts } from './decode.ts'
import { MAX_TOKEN_UNITS, MAX_UNIT_PRICE, MAX_UNITS } from './fee.ts'
import { operationFact, formatOperation, type Operation } from './operations.ts'
import { SYSTEM_PROGRAM } from './programs.ts'
import { verifySignature } from './signature.ts'
import { tokenRows, type TokenRows } from './token-rows.ts'

export type MatchOptions = {
  /** Whether a wallet may have added up to three Lighthouse assertions. Only for bytes that come back from a wallet or the chain. */
  allowGuards?: boolean
  /** Whether the payer's own node knows the blockhash: the only thing in a Solana transaction that tells the cluster. */
  blockhashKnown?: boolean
}

const MAX_GUARDS = 3

/**
 * Compares a payment with the bytes of a transaction, unsigned or signed by the sender. `ok` means: the transaction moves exactly
 * this amount from the sender to this recipient under this payment's memo, or nothing, and can cost no more than the cap (and, for a
 * token, the rent of the recipient's token account). Where a fee payer is named it costs the sender nothing.
 */
export function matchTransaction(
  intent: PaymentIntent,
  bytes: Uint8Array,
  options: MatchOptions = {},
): Match {
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) return refuse(decoded.problem, bytes)
  return conclude(matchRows(intent, decoded, options), meaningOf(intent, decoded))
}

/** The rows that bytes and landed transactions share. */
export function matchRows(
  intent: PaymentIntent,
  facts: SolanaFacts,
  options: MatchOptions,
): MatchRow[] {
  const { sender, recipient, amount, asset, rent } = intent.asset.native
    ? solRows(intent, facts.operations)
    : tokenRows(intent, facts.operations)
  return [
    networkRow(intent, options),
    sender,
    recipient,
    amount,
    asset,
    feeRow(intent, facts),
    ...(rent ? [rent] : []),
    equalRow('feePayer', [intent.feePayer ?? intent.sender, facts.feePayer]),
    signersRow(intent, facts),
    memoRow(intent, facts),
    expiryRow(facts),
    instructionsRow(intent, facts, options),
  ]
}

function solRows(
  intent: PaymentIntent,
  operations: readonly Operation[],
): Omit<TokenRows, 'rent'> & { rent?: undefined } {
  const transfers = operations.filter((operation) => operation.kind === 'transfer')
  const tokens = operations.some(({ kind }) => kind === 'token_transfer')
  const one = transfers.length === 1
  const total = transfers.reduce((sum, { lamports }) => sum + lamports, 0n)
  const senders = transfers.map(({ from }) => from)
  const recipients = transfers.map(({ to }) => to)
  const list = (addresses: readonly string[]) =>
    listFact(addresses.map(addressFact), fact('nobody'))
  const native = currencyFact(NATIVE_SOL.symbol)
  return {
    sender: {
      field: 'sender',
      ok: senders.length === 1 && senders[0] === intent.sender,
      expected: addressFact(intent.sender),
      got: list(senders),
    },
    recipient: {
      field: 'recipient',
      ok:
        recipients.length === 1 &&
        recipients[0] === intent.recipient &&
        recipients[0] !== intent.sender,
      expected: addressFact(intent.recipient),
      got: list(recipients),
    },
    amount: {
      field: 'amount',
      ok: one && total === intent.amountAtomic && intent.amountAtomic > 0n,
      expected: amountFact(intent.amountAtomic, intent.asset),
      got:
        transfers.length > 1
          ? {
              code: 'transfers_total',
              params: { ...moneyOf(total, NATIVE_SOL), count: transfers.length },
            }
          : amountFact(total, NATIVE_SOL),
    },
    asset: {
      field: 'asset',
      ok: intent.asset.address === SOLANA_NATIVE && one && !tokens,
      expected: currencyFact(intent.asset.symbol),
      got: tokens
        ? fact('any_token')
        : one
          ? native
          : { code: 'not_one_native_transfer', params: { symbol: NATIVE_SOL.symbol } },
    },
  }
}

function memoRow({ paymentId, sender }: PaymentIntent, { operations }: SolanaFacts): MatchRow {
  const memos = operations.filter((operation) => operation.kind === 'memo')
  const [memo] = memos
  return {
    field: 'memo',
    // A memo's accounts are signers it asks for; another one than the sender would have to sign.
    ok:
      memos.length === 1 &&
      memo?.text === paymentId &&
      memo.signers.every((signer) => signer === sender) &&
      memo.signers.length <= 1,
    expected: textFact(paymentId),
    got: memosFact(memos),
  }
}

function currencyFact(symbol: string): MatchFact {
  return { code: 'currency', params: { symbol } }
}

export function memosFact(memos: readonly { text: string }[]): MatchFact {
  return listFact(
    memos.map(({ text }) => textFact(text)),
    fact('none'),
  )
}

export function atMostSol(lamports: bigint): MatchFact {
  return { code: 'at_most', params: moneyOf(lamports, NATIVE_SOL) }
}

function networkRow({ network }: PaymentIntent, { blockhashKnown }: MatchOptions): MatchRow {
  const got =
    blockhashKnown === undefined
      ? fact('blockhash_decides')
      : blockhashKnown
        ? networkFact(network)
        : fact('unknown_blockhash')
  return {
    field: 'network',
    ok: network.startsWith('solana:') && blockhashKnown !== false,
    expected: networkFact(network),
    got,
  }
}

function feeRow(intent: PaymentIntent, { operations, feeBoundAtomic }: SolanaFacts): MatchRow {
  const limits = operations.filter((operation) => operation.kind === 'fee_limit')
  const prices = operations.filter((operation) => operation.kind === 'fee_price')
  const maxUnits = intent.asset.native ? MAX_UNITS : MAX_TOKEN_UNITS
  const capped =
    limits.every(({ units }) => units <= maxUnits) &&
    prices.every(({ microLamports }) => microLamports <= MAX_UNIT_PRICE)
  const stated = limits.length === 1 && prices.length === 1
  if (intent.feePayer !== undefined) {
    return {
      field: 'fee',
      ok: stated && capped,
      expected: fact('nothing'),
      got: fact(stated ? 'nothing' : 'free_without_limits'),
    }
  }
  return {
    field: 'fee',
    ok: stated && capped && feeBoundAtomic <= intent.maxFeeAtomic,
    expected: atMostSol(intent.maxFeeAtomic),
    got: stated
      ? atMostSol(feeBoundAtomic)
      : { code: 'fee_without_limits', params: moneyOf(feeBoundAtomic, NATIVE_SOL) },
  }
}

/** Whose signature makes it the sender's payment is always checked; a fee payer's own is for the network to judge. */
function signersRow({ sender, feePayer }: PaymentIntent, facts: SolanaFacts): MatchRow {
  const expected = feePayer === undefined ? [sender] : [feePayer, sender]
  const signature = facts.signatures[facts.signers.indexOf(sender)]
  const good =
    facts.form === 'unsigned' ||
    (signature !== undefined && verifySignature(signature, facts.message, sender))
  return {
    field: 'signers',
    ok: facts.signers.join() === expected.join() && good,
    expected: signersFact(expected),
    got: good
      ? signersFact(facts.signers)
      : { code: 'invalid_signatures', params: { signers: facts.signers } },
  }
}

export function signersFact(signers: readonly string[]): MatchFact {
  return listFact(signers.map(addressFact), fact('nobody'))
}

export function blockhashFact(blockhash: string): MatchFact {
  return { code: 'blockhash', params: { blockhash } }
}

function expiryRow({ operations, blockhash }: SolanaFacts): MatchRow {
  const durable = operations.some(
    (operation) =>
      operation.kind === 'unknown' &&
      operation.program === SYSTEM_PROGRAM &&
      operation.data[0] === 4,
  )
  return {
    field: 'expiry',
    ok: !durable,
    expected: fact('recent_blockhash'),
    got: durable ? fact('durable_nonce') : blockhashFact(blockhash),
  }
}

function instructionsRow(
  { asset, feePayer }: PaymentIntent,
  facts: SolanaFacts,
  { allowGuards = false }: MatchOptions,
): MatchRow {
  const { operations } = facts
  const guards = operations.filter(({ kind }) => kind === 'guard').length
  const opening: readonly Operation['kind'][] =
    asset.native || feePayer !== undefined ? ['account_opened'] : []
  const strange: readonly Operation['kind'][] = [
    'unknown',
    asset.native ? 'token_transfer' : 'transfer',
    ...opening,
  ]
  const understood = operations.every(({ kind }) => !strange.includes(kind))
  const opened: MatchItem[] =
    !asset.native && feePayer === undefined ? [fact('account_opened_if_missing')] : []
  const guarded: MatchItem[] = allowGuards
    ? [{ code: 'wallet_guards_at_most', params: { count: MAX_GUARDS } }]
    : []
  const transfer = fact(asset.native ? 'one_transfer' : 'one_token_transfer')
  return {
    field: 'instructions',
    ok: understood && guards <= (allowGuards ? MAX_GUARDS : 0) && hasPlainRoles(facts),
    expected: {
      code: 'list',
      params: {
        facts: [
          fact('compute_limit'),
          fact('compute_price'),
          transfer,
          fact('one_memo'),
          ...opened,
          ...guarded,
        ],
      },
    },
    got: listFact(operations.map(operationFact), fact('nothing')),
  }
}

/** Every account is there for a reason, programs are only called, what a transfer credits can be written, and what it only reads cannot. */
function hasPlainRoles({ accounts, operations }: SolanaFacts): boolean {
  const paid = new Set(operations.flatMap(paidAccounts))
  const read = new Set(operations.flatMap(readAccounts))
  return accounts.every(({ address, writable, called, named }, index) => {
    if (paid.has(address)) return writable && !called
    if (called || (read.has(address) && index > 0)) return !writable
    return index === 0 || named
  })
}

function paidAccounts(operation: Operation): string[] {
  if (operation.kind === 'transfer') return [operation.from, operation.to]
  return operation.kind === 'token_transfer' ? [operation.source, operation.destination] : []
}

function readAccounts(operation: Operation): string[] {
  if (operation.kind === 'token_transfer') return [operation.mint]
  return operation.kind === 'account_opened'
    ? [operation.owner, operation.mint, operation.program, SYSTEM_PROGRAM]
    : []
}

/** Everything that matters to the payer and the payee; the blockhash, guards, and a fee below the cap do not. */
export function meaningOf(
  intent: PaymentIntent,
  facts: SolanaFacts,
  feeAtomic = facts.feeBoundAtomic,
): string[] {
  const within = feeAtomic <= intent.maxFeeAtomic ? intent.maxFeeAtomic : feeAtomic
  const ceiling = intent.feePayer === undefined ? within : 0n
  const operations = facts.operations.filter(
    ({ kind }) => kind !== 'fee_limit' && kind !== 'fee_price' && kind !== 'guard',
  )
  return [
    'solana',
    intent.network,
    facts.feePayer,
    facts.signers.join(),
    ceiling.toString(),
    ...operations.map(formatOperation),
  ]
}
