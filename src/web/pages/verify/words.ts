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
    body: msg`Paid. You can deliver.`,
    tone: 'good',
    icon: 'checkDouble',
  },
  paid: {
    title: msg`Payment verified`,
    body: msg`Only the merchant can confirm delivery.`,
    tone: 'good',
    icon: 'checkDouble',
  },
  valid: {
    title: msg`Valid, not settled yet`,
    body: msg`Do not deliver.`,
    tone: 'info',
    icon: 'hourglass',
  },
  invalid: {
    title: msg`Not valid`,
    body: msg`Do not deliver.`,
    tone: 'bad',
    icon: 'cross',
  },
  unknown: {
    title: msg`Couldn’t determine`,
    body: msg`Incomplete. Check again.`,
    tone: 'warn',
    icon: 'question',
  },
}

export const sourceWords: Readonly<Record<Check['source'], MessageDescriptor>> = {
  local: msg`read here`,
  chain: msg`your RPC endpoint`,
  service_chain: msg`the service’s RPC endpoint`,
  record: msg`the service`,
  facilitator: msg`the facilitator`,
}

/** What was looked at; a check of a newer service that is not in here is told by its own name. */
export const checkWords: Readonly<Record<string, MessageDescriptor>> = {
  format: msg`Readable`,
  payload: msg`Payload`,
  scheme: msg`Scheme`,
  network: msg`Network`,
  method: msg`Method`,
  asset: msg`Currency`,
  recipient: msg`Recipient`,
  amount: msg`Amount`,
  resource: msg`Pays for`,
  quantity: msg`Quantity`,
  offer: msg`Offer`,
  payer: msg`Payer`,
  sender: msg`Payer`,
  signature: msg`Signature`,
  signed: msg`Signed transaction`,
  transaction: msg`Transaction`,
  transfer: msg`Transfer`,
  confirmations: msg`Confirmations`,
  instructions: msg`Action`,
  plain_transfer: msg`Action`,
  memo: msg`Memo`,
  memo_resource: msg`Memo and resource`,
  window: msg`Time`,
  fresh: msg`Not used`,
  signed_asset: msg`Signed currency`,
  signed_recipient: msg`Signed recipient`,
  signed_amount: msg`Signed amount`,
  token_domain: msg`Token name`,
  chain_id: msg`Signed network`,
  chain: msg`Signed network`,
  transfer_to: msg`Transaction recipient`,
  spender: msg`Executed by`,
  valid_after: msg`Valid from`,
  valid_before: msg`Valid until`,
  nonce: msg`Proof number`,
  balance: msg`Payer’s balance`,
  allowance: msg`Payer’s allowance`,
  reference: msg`Reference`,
  single_use: msg`Not used`,
  simulation: msg`Simulation`,
  verdict: msg`Verdict`,
  paid_amount: msg`Transaction amount`,
  paid_asset: msg`On-chain currency`,
  paid_to: msg`Transaction recipient`,
  not_the_payee: msg`Payer and recipient differ`,
  fee_payer: msg`Fee payer`,
  signers: msg`Signers`,
  signatures: msg`Signatures`,
  programs: msg`Programs`,
  compute_units: msg`Compute units`,
  compute_price: msg`Compute price`,
  one_transfer: msg`One transfer`,
  destination: msg`Transaction recipient`,
  lamports: msg`Lamports`,
  source: msg`Payer`,
  sponsor_isolated: msg`Fee payer untouched`,
  facilitator_verify: msg`Verdict`,
  facilitator_settle: msg`Settlement`,
}
