import { explorerLink, familyOf, nativeAsset, type Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedLink } from '../../ui/UntrustedText.tsx'

const modes = { local: 'Signed in the payer’s wallet', hosted: 'Signed by the service', received: 'Proof handed in by the payee' }

/** The record, field by field; nothing shortened. */
export function PaymentFacts({ payment, network }: { payment: PaymentStatusBody; network: Network | undefined }) {
  const link = (kind: 'tx' | 'address', value: string) => network && explorerLink(network, kind, value)
  const solana = network && familyOf(network.network) === 'solana'
  const native = network && nativeAsset(network)
  return (
    <Card title="Payment">
      <Facts>
        <Fact name="From" under="narrow">
          <Address copy full href={link('address', payment.sender)} value={payment.sender} />
        </Fact>
        <Fact name="To" under="narrow">
          <Address copy full href={link('address', payment.recipient)} value={payment.recipient} />
        </Fact>
        <Fact name="Network">
          {network?.name ?? payment.network}
          {network?.testnet && <span className="text-muted"> (test network)</span>}
        </Fact>
        {payment.fee && native && (
          <Fact name="Network fee">
            <Amount atomic={payment.fee.amountAtomic} decimals={native.decimals} exact symbol={native.symbol} />
          </Fact>
        )}
        {payment.resource && (
          <Fact name="For" under="narrow">
            <UntrustedLink href={payment.resource} />
          </Fact>
        )}
        <Fact name="Created">
          <Time at={payment.timestamp} look="full" />
        </Fact>
        {payment.status === 'created' && payment.expiresAt !== null && (
          <Fact name="Can be signed until">
            <Time at={payment.expiresAt} look="full" />
          </Fact>
        )}
        {payment.blockHeight !== null && (
          <Fact name={solana ? 'Slot' : 'Block'}>
            <span className="figures">{payment.blockHeight.toLocaleString()}</span>
          </Fact>
        )}
        <Fact name="How">{modes[payment.mode]}</Fact>
        <Fact name="Payment id" under="narrow">
          <Address copy full noun="payment id" value={payment.paymentId} />
        </Fact>
        {payment.signature && (
          <Fact name={solana ? 'Signature' : 'Transaction'} under="always">
            <Address copy full href={link('tx', payment.signature)} noun="transaction" value={payment.signature} />
          </Fact>
        )}
      </Facts>
    </Card>
  )
}
