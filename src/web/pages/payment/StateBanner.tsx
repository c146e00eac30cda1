import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { explorerLink, type Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { paymentQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { serverNow } from '../../api/clock.ts'
import { pathToRun } from '../../router/path-to-run.ts'
import { Link } from '../../router/Link.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Button } from '../../ui/Button.tsx'
import { Disclosure } from '../../ui/Disclosure.tsx'
import type { JournalEntry } from '../../payment-flow/journal.ts'
import { useUnfinished } from '../../payment-flow/use-unfinished.ts'
import { failureWords, isStuck, stateWords } from './state-words.ts'

export type StateBannerProps = { payment: PaymentStatusBody; network: Network | undefined }

/** What is out of the ordinary about a payment, and what the reader can do. Nothing while it goes as it should. */
export function StateBanner({ payment, network }: StateBannerProps) {
  const { t } = useLingui()
  // A payment of this browser that may have been sent: its own journal knows more than the service, and goes on with it.
  const own = useUnfinished().find(
    ({ state }) => 'built' in state && state.built.paymentId === payment.paymentId,
  )
  const { status, failure } = payment
  if (status === 'failed') {
    const words = failure === null ? undefined : failureWords(failure)
    return (
      <Banner className="mt-4" role="note" title={<Trans>Payment failed</Trans>} tone="bad">
        {/* Whether money moved comes first; where nothing landed, the reason says it. */}
        {(!words || payment.blockHeight !== null) && stateWords(payment)} {words && t(words)}
        {failure && (
          <Disclosure className="mt-2" label={<Trans>Network response</Trans>}>
            <p className="mt-1 font-mono text-xs [overflow-wrap:anywhere]">{failure}</p>
          </Disclosure>
        )}
      </Banner>
    )
  }
  if (status === 'rolled_back') {
    return (
      <Banner
        action={<Explorer network={network} payment={payment} />}
        className="mt-4"
        role="note"
        title={<Trans>Payment rolled back</Trans>}
        tone="bad"
      >
        {stateWords(payment)} <Trans>Updates automatically.</Trans>
      </Banner>
    )
  }
  if (own && own.state.step === 'unknown') {
    return (
      <Banner
        action={<GoOn run={own} />}
        className="mt-4"
        icon="question"
        role="note"
        title={<Trans>Possibly sent</Trans>}
        tone="warn"
      >
        <Trans>Do not pay again.</Trans>
      </Banner>
    )
  }
  if (own) {
    return (
      <Banner
        action={<GoOn run={own} />}
        className="mt-4"
        role="note"
        title={<Trans>Started in this browser</Trans>}
        tone="warn"
      >
        <Trans>Do not pay again.</Trans>
      </Banner>
    )
  }
  if (!isStuck(payment, serverNow())) return null
  return (
    <Banner
      action={
        <span className="flex flex-wrap gap-1">
          <Button
            onClick={() => void queryClient.invalidateQueries(paymentQuery(payment.paymentId))}
            size="sm"
            variant="quiet"
          >
            <Trans>Check again</Trans>
          </Button>
          <Explorer network={network} payment={payment} />
        </span>
      }
      className="mt-4"
      icon="hourglass"
      role="note"
      title={<Trans>Taking longer than usual</Trans>}
      tone="warn"
    >
      <Trans>Do not pay again or deliver.</Trans>
    </Banner>
  )
}

function GoOn({ run: { state } }: { run: JournalEntry }) {
  return (
    <Link className={buttonClass({ size: 'sm' })} to={pathToRun(state.order)}>
      <Trans>Return to payment</Trans>
    </Link>
  )
}

function Explorer({ payment, network }: StateBannerProps): ReactNode {
  const href =
    network && payment.signature ? explorerLink(network, 'tx', payment.signature) : undefined
  if (!href) return null
  return (
    <a
      className={buttonClass({ size: 'sm', variant: 'quiet' })}
      href={href}
      rel="noopener noreferrer"
      target="_blank"
    >
      <Trans>View in explorer</Trans>
    </a>
  )
}
