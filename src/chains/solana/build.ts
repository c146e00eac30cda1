import { utf8ToBytes } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { parseAddress } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'
import { MAX_UNIT_PRICE, MAX_UNITS } from './fee.ts'
import { COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAM, PROGRAMS, SYSTEM_PROGRAM } from './programs.ts'
import { writeTransaction } from './wire.ts'

/** What the chain says at the moment of building. */
export type BuildInput = Omit<PaymentIntent, 'maxFeeAtomic'> & {
  /** Base58, as `getLatestBlockhash` says it. */
  blockhash: string
  unitLimit: number
  unitPriceMicroLamports: bigint
}

const MAX_UINT64 = 2n ** 64n - 1n

/**
 * The unsigned v0 transaction of a payment in SOL, its one signature zeroed:
 * `[SetComputeUnitLimit, SetComputeUnitPrice, System transfer, Memo(paymentId)]`, the sender pays the fee.
 * @throws RangeError when the intent is not one this chain can carry; callers check intents before
 */
export function buildPayment(input: BuildInput): Uint8Array {
  refuseUnpayable(input)
  return writeTransaction({
    signatures: [new Uint8Array(64)],
    message: {
      version: 0,
      requiredSignatures: 1,
      readonlySigned: 0,
      readonlyUnsigned: 3,
      keys: [input.sender, input.recipient, COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM, MEMO_PROGRAM].map((key) => bs58.decode(key)),
      blockhash: bs58.decode(input.blockhash),
      instructions: [
        { program: 2, accounts: [], data: Uint8Array.from([2, ...littleEndian(BigInt(input.unitLimit), 4)]) },
        { program: 2, accounts: [], data: Uint8Array.from([3, ...littleEndian(input.unitPriceMicroLamports, 8)]) },
        { program: 3, accounts: [0, 1], data: Uint8Array.from([...littleEndian(2n, 4), ...littleEndian(input.amountAtomic, 8)]) },
        { program: 4, accounts: [], data: utf8ToBytes(input.paymentId) },
      ],
    },
  })
}

function refuseUnpayable(input: BuildInput): void {
  const { network, asset, sender, recipient, amountAtomic, blockhash, unitLimit, unitPriceMicroLamports } = input
  if (familyOf(network) !== 'solana') throw new RangeError(`${network} is not a Solana network.`)
  if (!asset.native) throw new RangeError(`${asset.symbol} is a token; only the native currency is paid this way.`)
  for (const key of [sender, recipient, blockhash]) {
    const parsed = parseAddress(key)
    if (!parsed.ok || parsed.family !== 'solana') throw new RangeError(`${key} is not base58 of 32 bytes.`)
  }
  if (sender === recipient) throw new RangeError('The sender pays itself.')
  if (PROGRAMS.has(sender) || PROGRAMS.has(recipient)) throw new RangeError('A program neither pays nor is paid.')
  if (amountAtomic <= 0n || amountAtomic > MAX_UINT64) throw new RangeError('The amount does not fit 64 bits, or moves nothing.')
  if (!Number.isInteger(unitLimit) || unitLimit <= 0 || unitLimit > MAX_UNITS) throw new RangeError(`The compute limit is not within 1 to ${MAX_UNITS}.`)
  if (unitPriceMicroLamports < 0n || unitPriceMicroLamports > MAX_UNIT_PRICE) throw new RangeError(`The compute price is not within 0 to ${MAX_UNIT_PRICE}.`)
}

function littleEndian(value: bigint, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn))
}
