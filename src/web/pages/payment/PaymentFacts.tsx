import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { explorerLink, familyOf, nativeAsset, type Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { quoteOf } from '#contract/quote.ts'
import { profilesQuery } from '../../api/customers.ts'
import { directionFor } from '../../api/merge-payment.ts'
import { useSession } from '../../api/session.ts'
import { formatNumber } from '../../locales/formats.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedLink, UntrustedText } from '../../ui/UntrustedText.tsx'
import { RateFact } from '../../payment-flow/ItemSummary.tsx'
import { customerOf, useCustomerName } from '../../payment-view/CustomerName.tsx'

const unsigned = msg`Payer’s wallet`
const modes = {
  local: msg`Signed by the payer`,
  hosted: msg`Signed by the service`,
  received: msg`Proof from the recipient`,
}

/** The record, field by field; nothing shortened. */
export function PaymentFacts({
  payment,
  network,
}: {
  payment: PaymentStatusBody
  network: Network | undefined
}) {
  const { t } = useLingui()
  const session = useSession()
  // A buyer who is not signed in knows which way they paid.
  const viewer = session.kind === 'known' ? session.viewer : null
  const link = (kind: 'tx' | 'address', value: string) =>
    network && explorerLink(network, kind, value)
  const solana = network && familyOf(network.network) === 'solana'
  const native = network && nativeAsset(network)
  const quote = quoteOf(payment.metadata)
  return (
    <Card title={<Trans>Payment</Trans>}>
      <Facts>
        {viewer?.wallets === 'all' && (
          <CustomerFact wallet={customerOf({ ...payment, type: directionFor(payment, viewer) })} />
        )}
        <Fact name={<Trans>From</Trans>} long>
          <Address copy full href={link('address', payment.sender)} value={payment.sender} />
        </Fact>
        <Fact name={<Trans>To</Trans>} long>
          <Address copy full href={link('address', payment.recipient)} value={payment.recipient} />
        </Fact>
        <Fact name={<Trans>Network</Trans>}>
          {network?.name ?? payment.network}
          {network?.testnet && <span className="text-muted"> ({t`Test network`})</span>}
        </Fact>
        {payment.fee && native && (
          <Fact name={<Trans>Network fee</Trans>}>
            <Amount
              atomic={payment.fee.amountAtomic}
              decimals={native.decimals}
              exact
              symbol={native.symbol}
            />
            {payment.fee.payer !== null && payment.fee.payer !== payment.sender && (
              <span className="block text-sm text-muted">
                <Trans>
                  Paid by <Address value={payment.fee.payer} />
                </Trans>
              </span>
            )}
          </Fact>
        )}
        {quote && <RateFact blockTime={payment.blockTime ?? undefined} quote={quote} />}
        {payment.resource && (
          <Fact name={<Trans>For</Trans>} long>
            <UntrustedLink href={payment.resource} />
          </Fact>
        )}
        <Fact name={<Trans>Created</Trans>}>
          <Time at={payment.timestamp} look="full" />
        </Fact>
        {payment.status === 'created' && payment.expiresAt !== null && (
          <Fact name={<Trans>Sign before</Trans>}>
            <Time at={payment.expiresAt} look="full" />
          </Fact>
        )}
        {payment.blockHeight !== null && (
          <Fact name={solana ? <Trans>Slot</Trans> : <Trans>Block</Trans>}>
            <span className="figures">{formatNumber(payment.blockHeight)}</span>
          </Fact>
        )}
        <Fact name={<Trans context="payment">Method</Trans>}>
          {t(payment.mode === 'local' && !payment.signature ? unsigned : modes[payment.mode])}
        </Fact>
        <Fact name={<Trans>Payment ID</Trans>} long>
          <Address copy full noun="payment id" value={payment.paymentId} />
        </Fact>
        {payment.signature && (
          <Fact name={solana ? <Trans>Signature</Trans> : <Trans>Transaction</Trans>} long>
            <Address
              copy
              full
              href={link('tx', payment.signature)}
              noun="transaction"
              value={payment.signature}
            />
          </Fact>
        )}
      </Facts>
    </Card>
  )
}

/** Leads to everything else this customer paid; nothing where the payment has none. Their address is below. */
function CustomerFact({ wallet }: { wallet: string | null }) {
  const { data: profiles } = useQuery(profilesQuery(wallet === null ? [] : [wallet]))
  const name = useCustomerName(wallet, wallet === null ? undefined : profiles?.get(wallet)?.name)
  if (wallet === null) return null
  return (
    // The name is the merchant's own, and the page is printed as a receipt.
    <Fact className="no-print" name={<Trans>Customer</Trans>}>
      {name !== undefined && (
        <span className="me-3">
          <UntrustedText text={name} />
        </span>
      )}
      <Link
        className="underline decoration-edge underline-offset-4 hover:decoration-current"
        to={pathTo('customer', { params: { walletAddress: wallet } })}
      >
        <Trans>All payments</Trans>
      </Link>
    </Fact>
  )
}
