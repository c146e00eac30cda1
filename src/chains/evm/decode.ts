import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import {
  hexToBytes,
  serializeTransaction,
  type Hex,
  type TransactionSerializableEIP1559,
} from 'viem'
import { checksumAddress, EVM_NATIVE } from '#contract/address.ts'
import {
  addressFact,
  amountFact,
  countFact,
  fact,
  textFact,
  type MatchFact,
} from '#contract/facts.ts'
import { NATIVE_ETH, type Asset } from '#contract/network.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import type { Step, Transfer } from '../match.ts'
import { nameCall, readTransferCall } from './erc20.ts'
import { feeBoundAtomic } from './fee.ts'
import { HALF_ORDER, recoverPublicKey } from './recover.ts'
import { readRlp, RlpError } from './rlp.ts'

/** What an EVM transaction says. Amounts in wei, addresses in EIP-55. */
export type EvmFacts = {
  form: 'unsigned' | 'signed'
  chainId: number
  nonce: number
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  to: string
  valueAtomic: bigint
  /** `0x` when empty. */
  data: Hex
  /** Recovered from the signature; null while there is none. */
  sender: string | null
  /** The transaction's hash; null while it is unsigned. */
  hash: string | null
  feeBoundAtomic: bigint
  /** The payment it makes, in native currency or of a token; null when its data may do anything else. */
  transfer: Transfer | null
  steps: Step[]
}

export type EvmDecoded = ({ ok: true } & EvmFacts) | { ok: false; problem: DecodeProblem }

/** The largest transaction nodes pass on. */
const MAX_BYTES = 128 * 1024
const MAX_UINT64 = 2n ** 64n - 1n
const MAX_UINT256 = 2n ** 256n - 1n
/** What fees per gas are told in, though they are wei. */
const GWEI = { symbol: 'gwei', decimals: 9 }

/**
 * Reads a type 2 transaction, unsigned or signed. Fails closed: another type, an access list, a contract creation, a spelling
 * that is not the canonical one, or one byte too many is a problem, and so is a signature that recovers to nobody or has a high s.
 * @param native the network's currency, for the words of the steps
 * @param tokens those whose units the words are to be told in
 */
export function decodeTransaction(
  bytes: Uint8Array,
  native: Asset = NATIVE_ETH,
  tokens: readonly Asset[] = [],
): EvmDecoded {
  if (bytes.length > MAX_BYTES)
    return { ok: false, problem: { code: 'too_large', params: { maxBytes: MAX_BYTES } } }
  if (bytes[0] !== 0x02) return { ok: false, problem: fact('not_eip1559') }
  try {
    const { transaction, signature } = readFields(bytes)
    const unsigned = hexToBytes(serializeTransaction(transaction))
    const again = signature
      ? hexToBytes(
          serializeTransaction(transaction, {
            r: pad(signature.r),
            s: pad(signature.s),
            yParity: signature.yParity,
          }),
        )
      : unsigned
    // Two writers must agree on the spelling: what our reader understood is what viem writes.
    if (bytesToHex(again) !== bytesToHex(bytes))
      return { ok: false, problem: fact('not_canonical') }
    const sender = signature ? recoverSender(unsigned, signature) : null
    const hash: Hex | null = signature ? `0x${bytesToHex(keccak_256(bytes))}` : null
    return { ok: true, ...describeFacts({ ...transaction, sender, hash }, native, tokens) }
  } catch (error) {
    if (error instanceof RlpError) return { ok: false, problem: error.problem }
    throw error
  }
}

type Fields = Required<
  Pick<
    TransactionSerializableEIP1559,
    'chainId' | 'nonce' | 'gas' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'value' | 'data'
  >
> & {
  to: Hex
  type: 'eip1559'
}
type Signature = { r: bigint; s: bigint; yParity: 0 | 1 }

function readFields(bytes: Uint8Array): { transaction: Fields; signature: Signature | null } {
  const list = readRlp(bytes.subarray(1))
  if (!Array.isArray(list) || (list.length !== 9 && list.length !== 12))
    throw new RlpError(fact('wrong_field_count'))
  const [chainId, nonce, tip, maxFee, gas, to, value, data, accessList, yParity, r, s] = list
  if (!Array.isArray(accessList)) throw new RlpError(fact('access_list_malformed'))
  if (accessList.length > 0) throw new RlpError(fact('access_list_present'))
  const maxFeePerGas = readInteger('maxFeePerGas', maxFee)
  const maxPriorityFeePerGas = readInteger('maxPriorityFeePerGas', tip)
  if (maxPriorityFeePerGas > maxFeePerGas) throw new RlpError(fact('priority_fee_above_fee'))
  const gasLimit = readInteger('gas', gas, MAX_UINT64)
  // No node accepts such a transaction: its fee does not fit into a balance.
  if (gasLimit * maxFeePerGas > MAX_UINT256) throw new RlpError(fact('fee_above_256_bits'))
  const transaction: Fields = {
    type: 'eip1559',
    chainId: readSafeInteger('chainId', chainId),
    nonce: readSafeInteger('nonce', nonce),
    gas: gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to: readAddress(to),
    value: readInteger('value', value),
    data: `0x${bytesToHex(readBytes('data', data))}`,
  }
  if (transaction.chainId === 0) throw new RlpError(fact('no_chain'))
  if (list.length === 9) return { transaction, signature: null }
  return {
    transaction,
    signature: { r: readInteger('r', r), s: readInteger('s', s), yParity: readParity(yParity) },
  }
}

function readBytes(name: string, item: unknown): Uint8Array {
  if (!(item instanceof Uint8Array))
    throw new RlpError({ code: 'field_is_list', params: { field: name } })
  return item
}

function readInteger(name: string, item: unknown, max = MAX_UINT256): bigint {
  const bytes = readBytes(name, item)
  if (bytes[0] === 0) throw new RlpError({ code: 'leading_zeros', params: { field: name } })
  const value = bytes.length === 0 ? 0n : BigInt(`0x${bytesToHex(bytes)}`)
  if (value > max) throw new RlpError({ code: 'number_too_large', params: { field: name } })
  return value
}

function readSafeInteger(name: string, item: unknown): number {
  return Number(readInteger(name, item, BigInt(Number.MAX_SAFE_INTEGER)))
}

function readAddress(item: unknown): Hex {
  const bytes = readBytes('to', item)
  if (bytes.length === 0) throw new RlpError(fact('creates_contract'))
  if (bytes.length !== 20) throw new RlpError(fact('recipient_length'))
  return `0x${bytesToHex(bytes)}`
}

function readParity(item: unknown): 0 | 1 {
  const value = readInteger('yParity', item)
  if (value === 0n) return 0
  if (value === 1n) return 1
  throw new RlpError(fact('invalid_parity'))
}

function pad(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

function recoverSender(unsigned: Uint8Array, { r, s, yParity }: Signature): string {
  if (s > HALF_ORDER) throw new RlpError(fact('high_s'))
  const point = recoverPublicKey(
    keccak_256(unsigned),
    hexToBytes(`${pad(r)}${pad(s).slice(2)}`),
    yParity,
  )
  if (!point) throw new RlpError(fact('unrecoverable'))
  return checksumAddress(`0x${bytesToHex(keccak_256(point.subarray(1)).subarray(12))}`)
}

type Described = Omit<
  EvmFacts,
  'form' | 'feeBoundAtomic' | 'valueAtomic' | 'steps' | 'transfer'
> & { value: bigint }

/** The facts of fields, with what follows from them; shared with what a node tells of a landed transaction. */
export function describeFacts(
  { value, ...fields }: Described,
  native: Asset,
  tokens: readonly Asset[] = [],
): EvmFacts {
  const to = checksumAddress(fields.to)
  const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, data, sender, hash } = fields
  return {
    form: hash === null ? 'unsigned' : 'signed',
    chainId,
    nonce,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to,
    valueAtomic: value,
    data,
    sender,
    hash,
    feeBoundAtomic: feeBoundAtomic(fields),
    transfer: readTransfer({ sender, to, value, data }),
    steps: [
      { kind: 'fee_limit', facts: { gas: textFact(gas.toString()) } },
      {
        kind: 'fee_price',
        facts: {
          maxFeePerGas: amountFact(maxFeePerGas, GWEI),
          maxPriorityFeePerGas: amountFact(maxPriorityFeePerGas, GWEI),
        },
      },
      describeTransfer({ to, value, data }, native, tokens),
    ],
  }
}

type Moving = { to: string; value: bigint; data: Hex }

/** The one payment of a transaction: value with empty data, or a token's transfer without value. */
export function readTransfer({
  sender,
  to,
  value,
  data,
}: Moving & { sender: string | null }): Transfer | null {
  if (data === '0x')
    return { sender, recipient: to, asset: EVM_NATIVE, amountAtomic: value, memo: null }
  const call = value === 0n ? readTransferCall(data) : undefined
  return call ? { sender, asset: to, ...call, memo: null } : null
}

function describeTransfer(
  { to, value, data }: Moving,
  native: Asset,
  tokens: readonly Asset[],
): Step {
  const amount = amountFact(value, native)
  if (data === '0x') return { kind: 'transfer', facts: { to: addressFact(to), amount } }
  const call = value === 0n ? readTransferCall(data) : undefined
  if (!call) {
    const bytes = countFact((data.length - 2) / 2)
    return {
      kind: 'unknown',
      facts: { to: addressFact(to), amount, call: { code: 'call', params: nameCall(data) }, bytes },
    }
  }
  const token = tokens.find(({ address }) => address === to)
  const units: MatchFact = token
    ? amountFact(call.amountAtomic, token)
    : { code: 'smallest_units', params: { amountAtomic: call.amountAtomic.toString() } }
  return {
    kind: 'token_transfer',
    facts: { to: addressFact(call.recipient), amount: units, token: addressFact(to) },
  }
}
