import { decodeTransaction as decodeEvm } from '#chains/evm/decode.ts'
import { verifySignature } from '#chains/solana/signature.ts'
import { decodeTransaction as decodeSolana } from '#chains/solana/decode.ts'
import { familyOf } from '#contract/network.ts'
import { formatAmount } from '#contract/amount.ts'
import {
  addressFact,
  amountFact,
  fact,
  networkFact,
  textFact,
  type CheckFact,
} from '#contract/facts.ts'
import { isPrice, priceOf } from '#contract/quote.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import type { Receipt } from '#contract/receipt.ts'
import { decodeBase64 } from '#x402/header.ts'
import type { KnownReason } from '../errors/proof-reasons.ts'
import type { Check } from './check.ts'

/**
 * Compares a receipt with the payment's own bytes, where it carries them. No network is asked: it
 * shows that the payer signed exactly this, not whether it landed.
 */
export function checkReceipt(receipt: Receipt): Check[] {
  const amount = check('amount', {
    expected: formatAmount(BigInt(receipt.amountAtomic), receipt.decimals),
    got: receipt.amount,
    reason: 'amount_mismatch',
    factOf: textFact,
  })
  const { resource } = receipt
  // Neither the payer's bytes nor the chain say what a payment is for: anybody can write that into the file.
  const purpose: Check[] =
    resource === null
      ? []
      : [
          {
            name: 'resource',
            source: 'local',
            state: 'open',
            expected: textFact(resource),
            got: fact('not_signed'),
          },
        ]
  const quantity = checkQuantity(receipt)
  if (!receipt.signed)
    return [
      amount,
      ...quantity,
      ...purpose,
      {
        name: 'signed',
        source: 'local',
        state: 'open',
        expected: fact('signed_transaction'),
        got: fact('not_in_receipt'),
      },
    ]
  const bytes = decodeBase64(receipt.signed.bytes)
  if (!bytes)
    return [
      amount,
      ...quantity,
      ...purpose,
      {
        name: 'signed',
        source: 'local',
        state: 'bad',
        expected: fact('base64'),
        got: fact('something_else'),
        reason: 'malformed',
      },
    ]
  return [
    amount,
    ...quantity,
    ...purpose,
    ...(familyOf(receipt.network) === 'evm'
      ? checkEvm(receipt, bytes)
      : checkSolana(receipt, bytes)),
  ]
}

/** Anybody can write a quantity into the file: with the price of one piece it must make up what was paid, or the quoted price. */
function checkQuantity({ quantity, quote, amount, symbol }: Receipt): Check[] {
  if (!quantity) return []
  const { pieces, price } = quantity
  const total = price.kind === 'fiat' ? quote : { amount, currency: symbol }
  return [
    check('quantity', {
      expected: total ? `${total.amount} ${total.currency}` : `0 ${price.currency}`,
      got: isPrice(price.amount) ? `${priceOf(price.amount, pieces)} ${price.currency}` : null,
      reason: 'amount_mismatch',
      factOf: textFact,
      missing: 'nothing',
    }),
  ]
}

/**
 * The receipt, with the transaction's bytes only if they prove the payment by themselves. A
 * submitted proof is executed in a transaction of the account that settled it: its bytes would look
 * like another payment.
 */
export function provable(receipt: Receipt): Receipt {
  return checkReceipt(receipt).some(({ state }) => state === 'bad')
    ? { ...receipt, signed: null }
    : receipt
}

type Said = {
  id: string | null
  payer: string | null
  recipient: string | null
  asset: string | null
  amountAtomic: bigint | null
  /** Undefined: the format has no memos. */
  memo: string | null | undefined
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
    asset: transfer?.asset ?? null,
    amountAtomic: transfer?.amountAtomic ?? null,
    memo: undefined,
    network: `eip155:${decoded.chainId}`,
    signed: decoded.form === 'signed',
  })
}

function checkSolana(receipt: Receipt, bytes: Uint8Array): Check[] {
  const decoded = decodeSolana(bytes)
  if (!decoded.ok) return [unreadable(decoded.problem)]
  const { transfer, signers, signatures, message } = decoded
  const valid = signers.every((signer, index) =>
    verifySignature(signatures[index] ?? new Uint8Array(64), message, signer),
  )
  return compare(receipt, {
    id: decoded.signature,
    payer: transfer?.sender ?? null,
    recipient: transfer?.recipient ?? null,
    asset: transfer?.asset ?? null,
    amountAtomic: transfer?.amountAtomic ?? null,
    memo: transfer?.memo ?? null,
    // Solana transaction bytes name no cluster.
    network: null,
    signed: valid,
  })
}

function compare(receipt: Receipt, said: Said): Check[] {
  const signed = fact(said.signed ? 'signed_by_payer' : 'not_validly_signed')
  const amount = (atomic: string) => amountFact(atomic, receipt)
  return [
    row('signature', said.signed, {
      expected: fact('signed_by_payer'),
      got: signed,
      reason: 'invalid_signature',
    }),
    check('transaction', {
      expected: receipt.transaction,
      got: said.id,
      reason: 'malformed',
      factOf: transactionFact,
    }),
    check('payer', {
      expected: receipt.payer,
      got: said.payer,
      reason: 'payer_mismatch',
      factOf: addressFact,
      missing: 'nobody',
    }),
    // Only the chain shows the owner of a token account.
    said.recipient === null && said.amountAtomic !== null
      ? {
          name: 'recipient',
          source: 'local',
          state: 'open',
          expected: addressFact(receipt.recipient),
          got: fact('token_account'),
        }
      : check('recipient', {
          expected: receipt.recipient,
          got: said.recipient,
          reason: 'recipient_mismatch',
          factOf: addressFact,
          missing: 'nobody',
        }),
    check('paid_amount', {
      expected: receipt.amountAtomic,
      got: said.amountAtomic?.toString() ?? null,
      reason: 'amount_mismatch',
      factOf: amount,
      missing: 'nothing',
    }),
    check('asset', {
      expected: receipt.asset.toLowerCase(),
      got: said.asset?.toLowerCase() ?? null,
      reason: 'asset_mismatch',
      factOf: addressFact,
      missing: 'nothing',
    }),
    ...(said.network === null
      ? []
      : [
          check('network', {
            expected: receipt.network,
            got: said.network,
            reason: 'network_mismatch',
            factOf: networkFact,
          }),
        ]),
    ...(said.memo === undefined
      ? []
      : [
          check('memo', {
            expected: receipt.paymentId,
            got: said.memo,
            reason: 'memo_mismatch',
            factOf: textFact,
          }),
        ]),
  ]
}

function unreadable(problem: DecodeProblem): Check {
  return {
    name: 'signed',
    source: 'local',
    state: 'bad',
    expected: fact('readable_transaction'),
    got: { code: 'unreadable', params: { problem } },
    reason: 'malformed',
  }
}

function transactionFact(transaction: string): CheckFact {
  return { code: 'transaction', params: { transaction } }
}

type Compared = {
  expected: string
  /** Null: absent. */
  got: string | null
  reason: KnownReason
  factOf: (value: string) => CheckFact
  /** The word for an absent value. */
  missing?: 'none' | 'nobody' | 'nothing'
}

/** Two texts that must be equal. */
function check(name: string, { expected, got, reason, factOf, missing = 'none' }: Compared): Check {
  return row(name, expected === got, {
    expected: factOf(expected),
    got: got === null ? fact(missing) : factOf(got),
    reason,
  })
}

function row(
  name: string,
  ok: boolean,
  { reason, ...facts }: Pick<Check, 'expected' | 'got'> & { reason: KnownReason },
): Check {
  return { name, source: 'local', state: ok ? 'ok' : 'bad', ...facts, ...(!ok && { reason }) }
}
