import { explorerLink } from '#contract/network.ts'
import { canRebuild, isPaid, type PaymentState } from '../../payment/machine.ts'
import type { PaymentOrder } from '../../payment/order.ts'
import type { PaymentRun } from '../../payment/run.ts'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import { useConfig, useNetwork } from '../../shell/use-config.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { toneClass } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { cx } from '../../ui/cx.ts'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Mark } from '../../ui/Mark.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { UntrustedLink, UntrustedText } from '../../ui/UntrustedText.tsx'
import { Confirmations } from './Confirmations.tsx'
import { ReceiptButtons } from './ReceiptButtons.tsx'
import { progressOf } from './words.ts'
import { StepHeading } from './StepHeading.tsx'

export type ProgressStepProps = {
  run: PaymentRun
  state: Extract<PaymentState, { sent: unknown }>
  onStartOver: (from: { after: PaymentOrder }) => void
}

/** Step 4: from the first broadcast to the receipt, told by what the user's own RPC shows. */
export function ProgressStep({ run, state, onStartOver }: ProgressStepProps) {
  const { order, built, sent } = state
  const network = useNetwork(order.network)
  const { title, body, tone, icon, working } = progressOf(state)
  const landed = 'landed' in state ? state.landed : null
  const { decimals, symbol } = order.asset

  return (
    <Card>
      <p className="mb-6 hidden items-center gap-2.5 font-semibold print:flex">
        <Mark />
        Receipt from {useConfig().title}
      </p>
      <div className="text-center">
        <span className={cx('inline-flex size-12 items-center justify-center rounded-full', toneClass[tone])}>
          {working && !isPaid(state) ? <Spinner /> : <Icon name={icon} size={20} />}
        </span>
        <StepHeading large>{title}</StepHeading>
        <p className="mx-auto mt-1 max-w-120 text-sm text-muted">{body}</p>
        <div className="mt-4">
          <Amount atomic={order.amountAtomic} decimals={decimals} exact size="xl" symbol={symbol} />
        </div>
      </div>

      <Confirmations state={state} />

      <Facts className="mt-6 border-t border-line pt-4">
        <Fact name="To" under="always">
          <Address copy full href={network && explorerLink(network, 'address', order.recipient)} value={order.recipient} />
        </Fact>
        <Fact name="From" under="always">
          <Address copy full href={network && explorerLink(network, 'address', order.sender)} value={order.sender} />
        </Fact>
        <Fact name="Network">{network?.name ?? order.network}</Fact>
        {landed && (
          <Fact name="Network fee">
            <Amount atomic={landed.feeAtomic} decimals={decimals} exact symbol={symbol} />
          </Fact>
        )}
        {landed && <Fact name={order.network.startsWith('eip155:') ? 'Block' : 'Slot'}>{landed.height.toLocaleString()}</Fact>}
        {sent.signature && (
          <Fact name="Transaction" under="always">
            <Address copy full href={network && explorerLink(network, 'tx', sent.signature)} noun="transaction" value={sent.signature} />
          </Fact>
        )}
        {order.resource && (
          <Fact name="Resource" under="always">
            <UntrustedLink href={order.resource} />
          </Fact>
        )}
        {order.description && (
          <Fact name="Description">
            <UntrustedText text={order.description} />
          </Fact>
        )}
        {order.reference && (
          <Fact name="Reference">
            <UntrustedText text={order.reference} />
          </Fact>
        )}
        <Fact name="Payment id">
          <Address copy full noun="payment id" value={built.paymentId} />
        </Fact>
      </Facts>

      <div className="no-print mt-6 flex flex-wrap gap-2">
        {canRebuild(state) && (
          <Button icon={<Icon name="refresh" />} onClick={() => void run.rebuild()} variant="primary">
            Prepare it again
          </Button>
        )}
        <Link className={buttonClass({ variant: isPaid(state) ? 'primary' : 'secondary' })} to={pathTo('payment', { params: { paymentId: built.paymentId } })}>
          Show the payment
        </Link>
        {isPaid(state) && <ReceiptButtons state={state} />}
        {(isPaid(state) || state.step === 'failed') && <Button onClick={() => onStartOver({ after: order })}>New payment</Button>}
      </div>
    </Card>
  )
}
