import {
  bytesToHex,
  getAddress,
  hexToBytes,
  isAddressEqual,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type Hex,
  type TransactionSerializable,
  type TransactionSerializableEIP1559,
  type TransactionSerialized,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { buildPayment, targetOf } from '#chains/evm/build.ts'
import { compareSigned } from '#chains/evm/compare.ts'
import { maxFeeAtomic } from '#chains/evm/fee.ts'
import { matchTransaction } from '#chains/evm/match.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { NATIVE_ETH } from '#contract/network.ts'
import { changeBytes, type Rng } from './rng.ts'
import type { Attack, TamperChain } from './tamper.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const PAYER = privateKeyToAccount(`0x${'5e'.repeat(32)}`)
const STRANGER = privateKeyToAccount(`0x${'bad1'.repeat(16)}`)

export type TransactionFields = Required<
  Pick<
    TransactionSerializableEIP1559,
    'chainId' | 'nonce' | 'gas' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'value'
  >
> & {
  to: Hex
  data?: Hex
  type: 'eip1559'
}

export type Changes = Record<
  string,
  (rng: Rng, valid: TransactionFields, intent: PaymentIntent) => TransactionSerializable
>

/** A kind of payment under attack. */
export type Kind = {
  asset(rng: Rng): PaymentIntent['asset']
  /** Bits of the largest amount, and of gas above the least. */
  size: { amount: number; gas: number }
  changes: Changes
  /** Whether a transaction, as viem reads it, moves the amount to the recipient and does nothing else. */
  pays(intent: PaymentIntent, got: { to: Hex; value: bigint; data: Hex | undefined }): boolean
}

/** What an attacker who understands the format changes in any payment. */
const COMMON_CHANGES: Changes = {
  'another chain': (rng, valid) => ({
    ...valid,
    chainId: rng.pick([1, 8453, valid.chainId + 1, rng.upTo(1e9)]),
  }),
  'a contract created': (rng, valid) => ({
    ...valid,
    to: undefined,
    data: bytesToHex(rng.bytes(rng.upTo(40))),
  }),
  'an access list': (rng, valid) => ({
    ...valid,
    accessList: [
      { address: valid.to, storageKeys: rng.below(2) ? [bytesToHex(rng.bytes(32))] : [] },
    ],
  }),
  'the fee drained': (rng, valid) => ({
    ...valid,
    maxFeePerGas: valid.maxFeePerGas * BigInt(rng.upTo(100_000)),
  }),
  'the gas drained': (rng, valid) => ({ ...valid, gas: valid.gas * BigInt(rng.upTo(10_000)) }),
  'the gas cut': (rng, valid) => ({ ...valid, gas: BigInt(rng.below(Number(valid.gas) + 1)) }),
  'another tip': (rng, valid) => ({
    ...valid,
    maxPriorityFeePerGas: BigInt(rng.below(Number(valid.maxFeePerGas) + 1)),
  }),
  'another nonce': (rng, valid) => ({ ...valid, nonce: rng.upTo(1e6) }),
  'a legacy transaction': (_, { maxFeePerGas, maxPriorityFeePerGas: _tip, ...valid }) => ({
    ...valid,
    type: 'legacy',
    gasPrice: maxFeePerGas,
  }),
  'type 1': (_, { maxFeePerGas, maxPriorityFeePerGas: _tip, ...valid }) => ({
    ...valid,
    type: 'eip2930',
    gasPrice: maxFeePerGas,
    accessList: [],
  }),
  'an account delegated': (_, valid) => ({
    ...valid,
    type: 'eip7702',
    authorizationList: [
      { address: valid.to, chainId: valid.chainId, nonce: 0, r: '0x1', s: '0x1', yParity: 0 },
    ],
  }),
}

const native: Kind = {
  asset: () => NATIVE_ETH,
  size: { amount: 70, gas: 9_000 },
  changes: {
    'another recipient': (rng, valid) => ({ ...valid, to: bytesToHex(rng.bytes(20)) }),
    'a look-alike recipient': (rng, valid) => ({
      ...valid,
      to: flipNibble(valid.to, 2 + 6 + rng.below(28)),
    }),
    'more or less': (rng, valid) => ({
      ...valid,
      value: rng.pick([valid.value + 1n, valid.value - 1n, valid.value * 10n, 0n, rng.big(90)]),
    }),
    'data added': (rng, valid) => ({ ...valid, data: bytesToHex(rng.bytes(rng.upTo(100))) }),
    'a token call': (rng, valid) => ({
      ...valid,
      value: 0n,
      data: `0xa9059cbb${bytesToHex(rng.bytes(64)).slice(2)}`,
    }),
  },
  pays: (intent, { to, value, data }) =>
    isAddressEqual(to, intent.recipient as Hex) &&
    value === intent.amountAtomic &&
    data === undefined,
}

async function attack(kindOf: Kind, rng: Rng): Promise<Attack> {
  const { intent, fields, reviewed } = newPayment(kindOf, rng)
  const changes = { ...COMMON_CHANGES, ...kindOf.changes }
  const base = { intent, reviewed }
  const kind = rng.below(100)
  if (kind < 60) return { ...base, ...changeBytes(rng, reviewed), door: 'review' }
  const how = rng.pick(Object.keys(changes) as [string, ...string[]])
  const changed = changes[how]?.(rng, fields, intent) ?? fields
  if (kind < 92)
    return { ...base, how, bytes: hexToBytes(serializeTransaction(changed)), door: 'review' }
  return { ...base, ...(await signAttack(rng, fields, { how, changed })) }
}

/** What a wallet that lies, or somebody between it and us, gives back. */
async function signAttack(
  rng: Rng,
  fields: TransactionFields,
  { how, changed }: { how: string; changed: TransactionSerializable },
): Promise<Pick<Attack, 'how' | 'bytes' | 'door'>> {
  const door = rng.pick<Attack['door']>(['signed', 'signed', 'review'])
  switch (rng.below(6)) {
    case 4:
      return {
        how: 'not signed at all',
        bytes: hexToBytes(serializeTransaction(fields)),
        door: 'signed',
      }
    case 0:
      return {
        how: 'signed as it was shown',
        bytes: hexToBytes(await PAYER.signTransaction(fields)),
        door,
      }
    case 1:
      return {
        how: 'signed by a stranger',
        bytes: hexToBytes(await STRANGER.signTransaction(fields)),
        door,
      }
    case 2: {
      const signed = parseTransaction(await PAYER.signTransaction(fields))
      const twin = {
        r: signed.r ?? '0x',
        s: toHex32(ORDER - BigInt(signed.s ?? '0x0')),
        yParity: signed.yParity === 0 ? 1 : 0,
      }
      return { how: 'the high-s twin', bytes: hexToBytes(serializeTransaction(fields, twin)), door }
    }
    case 3: {
      const tampered = changeBytes(rng, hexToBytes(await PAYER.signTransaction(fields)))
      return { how: `signed, then ${tampered.how}`, bytes: tampered.bytes, door }
    }
    default:
      return {
        how: `signed with ${how}`,
        bytes: hexToBytes(await PAYER.signTransaction(changed)),
        door,
      }
  }
}

function newPayment(
  kindOf: Kind,
  rng: Rng,
): { intent: PaymentIntent; fields: TransactionFields; reviewed: Uint8Array } {
  const chainId = rng.pick([1, 31337, 8453, 11155111])
  const intent = {
    paymentId: rng.paymentId(),
    network: `eip155:${chainId}`,
    asset: kindOf.asset(rng),
    sender: PAYER.address,
    recipient: getAddress(bytesToHex(rng.bytes(20))),
    amountAtomic: rng.big(kindOf.size.amount),
    maxFeeAtomic: maxFeeAtomic(),
  }
  const maxFeePerGas = BigInt(rng.upTo(50_000_000_000))
  const facts = {
    nonce: rng.below(1000),
    gas: BigInt(21_000 + rng.below(kindOf.size.gas)),
    maxFeePerGas,
    maxPriorityFeePerGas: BigInt(rng.below(Number(maxFeePerGas) + 1)),
  }
  const reviewed = buildPayment({ ...intent, ...facts })
  return { intent, fields: { type: 'eip1559', chainId, ...targetOf(intent), ...facts }, reviewed }
}

function accepts({ intent, reviewed, bytes, door }: Attack): boolean {
  return door === 'review'
    ? matchTransaction(intent, bytes).ok
    : compareSigned(intent, reviewed, bytes).ok
}

async function isSamePayment(
  kindOf: Kind,
  { intent, reviewed, bytes, door }: Attack,
): Promise<boolean> {
  const serialized = bytesToHex(bytes) as TransactionSerialized<'eip1559'>
  const got = parseTransaction(serialized)
  const { chainId, to, value, data, accessList = [], gas = 0n, maxFeePerGas = 0n, r, s } = got
  const pays =
    got.type === 'eip1559' &&
    `eip155:${chainId}` === intent.network &&
    kindOf.pays(intent, { to: to ?? '0x', value: value ?? 0n, data })
  const plain = accessList.length === 0 && gas * maxFeePerGas <= intent.maxFeeAtomic
  if (!pays || !plain) return false
  if (r === undefined || s === undefined)
    return door === 'review' && serializeTransaction(got) === serialized
  if (
    BigInt(s) > ORDER / 2n ||
    !isAddressEqual(
      await recoverTransactionAddress({ serializedTransaction: serialized }),
      PAYER.address,
    )
  )
    return false
  if (door === 'review') return true
  const { r: _r, s: _s, v: _v, yParity: _yParity, ...unsigned } = got
  return serializeTransaction(unsigned) === bytesToHex(reviewed)
}

function toHex32(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

export function flipNibble(hex: Hex, at: number): Hex {
  const flipped = (Number.parseInt(hex.charAt(at), 16) ^ 1).toString(16)
  return `0x${(hex.slice(0, at) + flipped + hex.slice(at + 1)).slice(2).toLowerCase()}`
}

export function attackOn(kindOf: Kind): TamperChain {
  return {
    attack: (rng) => attack(kindOf, rng),
    accepts,
    isSamePayment: (made) => isSamePayment(kindOf, made),
  }
}

export const evm = attackOn(native)
