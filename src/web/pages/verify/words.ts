import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Tone } from '../../ui/Badge.tsx'
import type { IconName } from '../../ui/Icon.tsx'
import type { Check, ProofVerdict } from '../../payment-view/check.ts'

export const verdictWords: Readonly<
  Record<
    ProofVerdict,
    { title: MessageDescriptor; body: MessageDescriptor; tone: Tone; icon: IconName }
  >
> = {
  settled: {
    title: msg`Verified and settled`,
    body: msg`The money is with the payee. You can hand over what was paid for.`,
    tone: 'good',
    icon: 'checkDouble',
  },
  valid: {
    title: msg`Valid, not settled yet`,
    body: msg`It would pay, but it has not. Hand nothing over before it is settled.`,
    tone: 'info',
    icon: 'hourglass',
  },
  invalid: {
    title: msg`Not valid`,
    body: msg`It does not pay what you expect. Hand nothing over.`,
    tone: 'bad',
    icon: 'cross',
  },
  unknown: {
    title: msg`Couldn’t determine`,
    body: msg`Something could not be looked at. This says nothing against the payer: check again.`,
    tone: 'warn',
    icon: 'question',
  },
}

export const sourceWords: Readonly<Record<Check['source'], MessageDescriptor>> = {
  local: msg`read here`,
  chain: msg`your node`,
  service_chain: msg`the service’s node`,
  record: msg`the service`,
  facilitator: msg`the facilitator`,
}

/** What was looked at; a check of a newer service that is not in here is told by its own name. */
export const checkWords: Readonly<Record<string, MessageDescriptor>> = {
  format: msg`Readable`,
  payload: msg`Payload`,
  scheme: msg`Scheme`,
  network: msg`Network`,
  method: msg`Way of paying`,
  asset: msg`Currency`,
  recipient: msg`Payee`,
  amount: msg`Amount`,
  resource: msg`Pays for`,
  offer: msg`Offer`,
  payer: msg`Payer`,
  sender: msg`Payer`,
  signature: msg`Signature`,
  signed: msg`Signed transaction`,
  transaction: msg`Transaction`,
  transfer: msg`Transfer`,
  confirmations: msg`Confirmations`,
  instructions: msg`What it does`,
  plain_transfer: msg`What it does`,
  memo: msg`Memo`,
  memo_resource: msg`Memo and resource`,
  window: msg`Time`,
  fresh: msg`Not used`,
  signed_asset: msg`Currency that was signed`,
  signed_recipient: msg`Payee that was signed`,
  signed_amount: msg`Amount that was signed`,
  token_domain: msg`The token’s own name`,
  chain_id: msg`Network that was signed`,
  chain: msg`Network that was signed`,
  transfer_to: msg`Payee in the transaction`,
  spender: msg`Executed by`,
  valid_after: msg`Good from`,
  valid_before: msg`Good until`,
  nonce: msg`Number of the proof`,
  balance: msg`The payer’s balance`,
  allowance: msg`What the payer allows`,
  own_resource: msg`Its own page`,
  reference: msg`Reference`,
  single_use: msg`Not used before`,
  simulation: msg`Trial run`,
  verdict: msg`Verdict`,
  paid_amount: msg`Amount in the transaction`,
  paid_asset: msg`Currency on the chain`,
  paid_to: msg`Payee on the chain`,
  not_the_payee: msg`Payer is not the payee`,
  fee_payer: msg`Network fee paid by`,
  signers: msg`Number of signers`,
  signatures: msg`Signatures`,
  programs: msg`Programs`,
  compute_units: msg`Compute units`,
  compute_price: msg`Price of compute`,
  one_transfer: msg`One transfer`,
  destination: msg`Payee in the transaction`,
  lamports: msg`Lamports`,
  source: msg`Payer`,
  sponsor_isolated: msg`Fee payer untouched`,
  facilitator_verify: msg`The facilitator’s verdict`,
  facilitator_settle: msg`The facilitator’s settlement`,
}
