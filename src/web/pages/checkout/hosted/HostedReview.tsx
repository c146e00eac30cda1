import { Trans, useLingui } from '@lingui/react/macro'
import { parseAmount } from '#contract/amount.ts'
import { intentText, intentTypedData, type HostedIntent } from '#contract/hosted-intent.ts'
import { familyOf, findAsset, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { serverNow } from '../../../api/clock.ts'
import type { UserError } from '../../../payment-intent/intent.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Time } from '../../../ui/Time.tsx'
import { UntrustedLink, UntrustedText } from '../../../ui/UntrustedText.tsx'
import { useNow } from '../../../ui/use-now.ts'
import { useAccounts, type ConnectedAccount } from '../../../wallet/state/accounts.ts'
import { feeCapOf, localDecimal } from '../../../payment-flow/form/fields.ts'
import { useFunds } from '../../../payment-flow/steps/use-funds.ts'
import { StepHeading } from '../../../payment-flow/steps/Steps.tsx'
import { Disclosure } from '../../../ui/Disclosure.tsx'

export type HostedReviewProps = {
  intent: HostedIntent
  signing: boolean
  userError: UserError | null
  onSign: (network: Network, signer: ConnectedAccount) => void
  onChange: () => void
}

/** What the operator signs, whole. There is no transaction to decode: the service makes it, bound by these words. */
export function HostedReview({ intent, signing, userError, onSign, onChange }: HostedReviewProps) {
  const { t } = useLingui()
  const network = useNetwork(intent.network)
  const native = network && nativeAsset(network)
  const asset = network && findAsset(network, intent.asset)
  const funds = useFunds(network, intent.from, asset)
  const mostFee = network && asset && feeCapOf(network, asset, priorityFeeOf(intent, network))
  const signer = useAccounts().find((each) => each.family === familyOf(intent.network))
  // The time passes, and the clock of this computer says nothing about it.
  useNow()
  const late = serverNow() >= intent.expiresAt * 1000
  const walletName = signer?.walletName ?? ''
  return (
    <Card>
      <StepHeading>
        <Trans>Check and sign</Trans>
      </StepHeading>
      <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
        <p className="text-sm text-muted">
          <Trans>Amount</Trans>
        </p>
        <Amount
          atomic={intent.amountAtomic}
          decimals={intent.decimals}
          exact
          size="xl"
          symbol={intent.symbol}
        />
      </div>
      {userError && (
        <Banner className="mt-4" role="alert" title={userError.title} tone="warn">
          {userError.body}
        </Banner>
      )}
      <Banner className="mt-4" role="note" tone="warn">
        <Trans>Signing sends the payment. It cannot be cancelled.</Trans>
      </Banner>
      <Facts className="mt-5 border-t border-line pt-4">
        <Fact name={t`To`} long>
          <Address copy full value={intent.to} />
        </Fact>
        <Fact name={t`From the managed wallet`} long>
          <Address copy full value={intent.from} />
        </Fact>
        <Fact name={t`Network`}>{network?.name ?? intent.network}</Fact>
        <Fact name={t`Balance`}>
          {funds.balances ? (
            <Amount
              atomic={funds.balances.asset}
              decimals={intent.decimals}
              symbol={intent.symbol}
            />
          ) : (
            funds.unreadable && <Trans>Balance unavailable</Trans>
          )}
        </Fact>
        {mostFee !== undefined && native && (
          <Fact name={t`Network fee`}>
            <Trans>up to {amountIn(native, mostFee)}</Trans>
          </Fact>
        )}
        <Fact name={t`Priority fee`}>
          {intent.priorityFee === '' ? (
            <Trans>Auto</Trans>
          ) : (
            `${localDecimal(intent.priorityFee)} ${native?.symbol ?? ''}`
          )}
        </Fact>
        {intent.description && (
          <Fact name={intent.refundOf ? t`Reason` : t`Description`}>
            <UntrustedText text={intent.description} />
          </Fact>
        )}
        {intent.reference && (
          <Fact name={t`Reference`}>
            <UntrustedText text={intent.reference} />
          </Fact>
        )}
        {intent.resource && (
          <Fact name={t`Resource`} long>
            <UntrustedLink href={intent.resource} />
          </Fact>
        )}
        <Fact name={t`Valid until`}>
          <Time at={intent.expiresAt * 1000} look="seconds" />
        </Fact>
      </Facts>
      <Words intent={intent} />
      <div className="mt-6 flex gap-2 border-t border-line pt-4 max-sm:flex-col">
        {late ? (
          <Button icon={<Icon name="refresh" />} onClick={onChange} size="lg" variant="primary">
            <Trans>Prepare it again</Trans>
          </Button>
        ) : (
          <Button
            busy={signing}
            className="min-w-0 sm:flex-1"
            disabled={!signer || !network}
            icon={<Icon name="wallet" />}
            onClick={() => network && signer && onSign(network, signer)}
            size="lg"
            variant="primary"
          >
            {signing ? t`Approve in ${walletName}` : t`Sign and pay with ${walletName}`}
          </Button>
        )}
        <Button disabled={signing} onClick={onChange} size="lg">
          <Trans>Change</Trans>
        </Button>
      </div>
    </Card>
  )
}

function amountIn({ decimals, symbol }: Asset, atomic: bigint) {
  return <Amount atomic={atomic} decimals={decimals} exact symbol={symbol} />
}

function priorityFeeOf({ priorityFee }: HostedIntent, network: Network): bigint | undefined {
  const read = parseAmount(priorityFee, nativeAsset(network).decimals)
  return read.ok ? read.atomic : undefined
}

/** The very words the wallet shows, to compare. */
function Words({ intent }: { intent: HostedIntent }) {
  const text =
    familyOf(intent.network) === 'evm'
      ? JSON.stringify(intentTypedData(intent).message, null, 2)
      : intentText(intent)
  return (
    <Disclosure className="mt-4" label={<Trans>What the wallet shows</Trans>}>
      <pre className="mt-2 overflow-auto rounded-lg bg-sunken p-3 font-mono text-xs whitespace-pre-wrap break-all">
        {text}
      </pre>
    </Disclosure>
  )
}
