import { decodeTransaction as decodeEvm } from '#chains/evm/decode.ts'
import { verifySignature } from '#chains/solana/signature.ts'
import { decodeTransaction as decodeSolana } from '#chains/solana/decode.ts'
import { familyOf } from '#contract/network.ts'
import { formatAmount } from '#contract/amount.ts'
import type { Receipt } from '#contract/receipt.ts'
import { decodeBase64 } from '#x402/header.ts'
import type { KnownReason } from '../../errors/proof-reasons.ts'
import type { Check } from './check.ts'

/**
 * Holds a receipt against the payment's own bytes that it carries. No network is asked: it shows that the payer signed exactly this, and
 * nothing of whether it landed.
 */
export function checkReceipt(receipt: Receipt): Check[] {
  const amount = check('amount', [formatAmount(BigInt(receipt.amountAtomic), receipt.decimals), receipt.amount], 'amount_mismatch')
  if (!receipt.signed) return [amount, { name: 'signed', source: 'local', state: 'open', expected: 'the signed transaction', got: 'not in the receipt' }]
  const bytes = decodeBase64(receipt.signed.bytes)
  if (!bytes) return [amount, { ...check('signed', ['base64', 'something else'], 'malformed') }]
  return [amount, ...(familyOf(receipt.network) === 'evm' ? checkEvm(receipt, bytes) : checkSolana(receipt, bytes))]
}

/**
 * The receipt, with the transaction's bytes only where they show the payment by themselves. A proof that was handed in is carried out in a transaction
 * of whoever settled it: its bytes would read as those of another payment.
 */
export function provable(receipt: Receipt): Receipt {
  return checkReceipt(receipt).some(({ state }) => state === 'bad') ? { ...receipt, signed: null } : receipt
}

type Said = {
  id: string | null
  payer: string | null
  recipient: string | null
  asset: string
  amountAtomic: bigint | null
  memo: string | null
  network: string | null
  signed: boolean
}

function checkEvm(receipt: Receipt, bytes: Uint8Array): Check[] {
  const decoded = decodeEvm(bytes)
  if (!decoded.ok) return [unreadable(decoded.problem)]
  const { transfer } = decoded
  return compare(receipt, {
    id: decoded.hash,
    payer: decoded.sender,
    recipient: transfer?.recipient ?? null,
    asset: transfer?.asset ?? 'nothing',
    amountAtomic: transfer?.amountAtomic ?? null,
    memo: null,
    network: `eip155:${decoded.chainId}`,
    signed: decoded.form === 'signed',
  })
}

function checkSolana(receipt: Receipt, bytes: Uint8Array): Check[] {
  const decoded = decodeSolana(bytes)
  if (!decoded.ok) return [unreadable(decoded.problem)]
  const { transfer, signers, signatures, message } = decoded
  const valid = signers.every((signer, index) => verifySignature(signatures[index] ?? new Uint8Array(64), message, signer))
  return compare(receipt, {
    id: decoded.signature,
    payer: transfer?.sender ?? null,
    recipient: transfer?.recipient ?? null,
    asset: transfer?.asset ?? 'nothing',
    amountAtomic: transfer?.amountAtomic ?? null,
    memo: transfer?.memo ?? 'none',
    // The bytes of Solana name no cluster.
    network: null,
    signed: valid,
  })
}

function compare(receipt: Receipt, said: Said): Check[] {
  const { symbol, decimals } = receipt
  const spell = (atomic: bigint | null) => (atomic === null ? 'nothing' : `${formatAmount(atomic, decimals)} ${symbol}`)
  return [
    check('signature', ['signed by the payer', said.signed ? 'signed by the payer' : 'not validly signed'], 'invalid_signature'),
    check('transaction', [receipt.transaction, said.id ?? 'none'], 'malformed'),
    check('payer', [receipt.payer, said.payer ?? 'nobody'], 'payer_mismatch'),
    // A token account names its owner on the chain alone.
    said.recipient === null && said.amountAtomic !== null
      ? { name: 'recipient', source: 'local', state: 'open', expected: receipt.recipient, got: 'a token account' }
      : check('recipient', [receipt.recipient, said.recipient ?? 'nobody'], 'recipient_mismatch'),
    check('paid_amount', [spell(BigInt(receipt.amountAtomic)), spell(said.amountAtomic)], 'amount_mismatch'),
    check('asset', [receipt.asset.toLowerCase(), said.asset.toLowerCase()], 'asset_mismatch'),
    ...(said.network === null ? [] : [check('network', [receipt.network, said.network], 'network_mismatch')]),
    ...(said.memo === null ? [] : [check('memo', [receipt.paymentId, said.memo], 'memo_mismatch')]),
  ]
}

function unreadable(problem: string): Check {
  return { name: 'signed', source: 'local', state: 'bad', expected: 'a transaction that can be read', got: problem, reason: 'malformed' }
}

function check(name: string, [expected, got]: readonly [string, string], reason: KnownReason): Check {
  const ok = expected === got
  return { name, source: 'local', state: ok ? 'ok' : 'bad', expected, got, ...(!ok && { reason }) }
}
