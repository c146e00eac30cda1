import { addressFact, amountFact, fact, networkFact, type MoneyAsset } from '#contract/facts.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  type Step,
  conclude,
  equalRow,
  refuse,
} from '../match.ts'
import { callOf, type Authorization } from './authorization.ts'
import { decodeTransaction } from './decode.ts'
import { currencyFact, currencyOf, feeRow, nonceFact } from './match.ts'

/**
 * Compares the transaction by which a payee collects an authorized payment with the authorization.
 * `ok` means: on this chain it executes exactly this authorization, to the payee, and can cost the
 * payee no more than the cap.
 * @param intent the payee is `sender`, who signs and pays the network fee, and `recipient`, who
 * gets the tokens
 */
export function matchSettlement(
  intent: PaymentIntent,
  authorization: Authorization,
  bytes: Uint8Array,
): Match {
  const currency = currencyOf(intent)
  const decoded = decodeTransaction(bytes, currency)
  if (!decoded.ok) return refuse(decoded.problem, bytes)
  // A key's signature and a contract's are passed to the token in different calls, and the bytes do
  // not say which it is. Either call moves only this authorization.
  const calls = (['key', 'contract'] as const).map((signedBy) =>
    callOf({ ...authorization, signedBy }),
  )
  const isCall = calls.some(
    ({ to, data }) =>
      decoded.data === data.toLowerCase() && decoded.to.toLowerCase() === to.toLowerCase(),
  )
  const exact = isCall && decoded.valueAtomic === 0n
  const token = authorization.token.toLowerCase() === intent.asset.address.toLowerCase()
  const rows: MatchRow[] = [
    equalRow('network', [intent.network, `eip155:${decoded.chainId}`], networkFact),
    equalRow('recipient', [intent.recipient, authorization.to]),
    {
      field: 'amount',
      ok: authorization.amountAtomic === intent.amountAtomic && intent.amountAtomic > 0n,
      expected: amountFact(intent.amountAtomic, intent.asset),
      got: amountFact(authorization.amountAtomic, intent.asset),
    },
    {
      field: 'asset',
      ok: token && !intent.asset.native,
      expected: currencyFact(intent.asset.symbol),
      got: token ? currencyFact(intent.asset.symbol) : addressFact(authorization.token),
    },
    feeRow(intent, decoded),
    equalRow('feePayer', [intent.sender, decoded.sender ?? intent.sender]),
    {
      field: 'expiry',
      ok: true,
      expected: fact('until_nonce_used'),
      got: nonceFact(decoded.nonce),
    },
    {
      field: 'instructions',
      ok: exact,
      expected: fact('authorization_executed'),
      got: exact ? fact('authorization_executed') : fact('unnamed_call'),
    },
  ]
  return conclude(rows, [
    'evm-settlement',
    intent.network,
    intent.sender,
    decoded.to.toLowerCase(),
    decoded.data,
    decoded.valueAtomic.toString(),
  ])
}

/** The collection as the review shows it. */
export function describeSettlement(
  { from, to, amountAtomic, token }: Authorization,
  asset: MoneyAsset,
): Step[] {
  return [
    {
      kind: 'token_transfer',
      facts: {
        from: addressFact(from),
        to: addressFact(to),
        amount: amountFact(amountAtomic, asset),
        token: addressFact(token),
      },
    },
  ]
}
