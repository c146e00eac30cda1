import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState, type ReactNode } from 'react'
import { t } from '@lingui/core/macro'
import { shortAddress } from '#contract/known-address.ts'
import type { Network } from '#contract/network.ts'
import type { PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import { call } from '../api/client.ts'
import { requestWithRetry } from '../api/retry.ts'
import { useNetwork } from '../api/use-config.ts'
import { formatList } from '../locales/formats.ts'
import { evidenceText, type EvidenceGap, type OpenEvidence } from '../payment-intent/evidence.ts'
import { Address } from '../ui/Address.tsx'
import { Amount } from '../ui/Amount.tsx'
import { Banner } from '../ui/Banner.tsx'
import { BottomBar } from '../ui/BottomBar.tsx'
import { Button } from '../ui/Button.tsx'
import { Fact, Facts } from '../ui/Facts.tsx'
import { Icon } from '../ui/Icon.tsx'
import { announce } from '../ui/announce.tsx'
import { loadWalletAdapter } from '../wallet/load-adapter.ts'
import { openConnectDialog, useAccounts, type ConnectedAccount } from '../wallet/state/accounts.ts'
import { signalOf } from '../wallet/state/errors.ts'
import { requestFromWallet } from './tab-runs.ts'

export type EvidenceCardProps = {
  evidence: OpenEvidence
  asset: { symbol: string; decimals: number }
  /** One level below its parent heading. */
  heading: 'h2' | 'h3'
}

type Step =
  | { name: 'asked' }
  | { name: 'later' }
  | { name: 'signing' }
  | { name: 'reporting' }
  | { name: 'unreported'; signature: string }
  | { name: 'reported' }

/**
 * Asks the payer for the free signature that ties their transaction to their order. Refusing it
 * does not change the payment.
 */
export function EvidenceCard({ evidence, asset, heading }: EvidenceCardProps) {
  const { t } = useLingui()
  const { gap, transaction, intent, request } = evidence
  const [step, setStep] = useState<Step>({ name: 'asked' })
  const [why, setWhy] = useState<string>()
  const network = useNetwork(intent.network)
  const account = useAccounts().find(({ family }) => family === 'evm')
  const text = evidenceText(intent, request)
  const title = t`Confirm this payment is yours`

  useEffect(() => announce(title), [title])

  if (!text.ok) return <Mismatch fields={text.fields} />

  async function sign(data: PayerEvidenceRequest) {
    if (!network || !account) return
    setWhy(undefined)
    setStep({ name: 'signing' })
    const answer = await signEvidence(network, account, data)
    if (answer.kind === 'signed') return report(answer.signature)
    if (answer.kind === 'not_signed') setWhy(answer.why)
    setStep(answer.kind === 'rejected' ? { name: 'later' } : { name: 'asked' })
  }

  async function report(signature: string) {
    setStep({ name: 'reporting' })
    try {
      await reportEvidence({
        paymentId: intent.paymentId,
        signature: transaction,
        payerSignature: signature,
        payerNonce: intent.nonce,
      })
      setStep({ name: 'reported' })
    } catch {
      setStep({ name: 'unreported', signature })
    }
  }

  if (step.name === 'reported') {
    return (
      <Frame heading={heading} title={<Trans>Confirmed as yours</Trans>}>
        <p className="mt-1 text-sm text-muted" role="status">
          <Trans>The merchant is checking your payment.</Trans>
        </p>
      </Frame>
    )
  }

  return (
    <Frame
      heading={heading}
      title={step.name === 'later' ? <Trans>Not confirmed as yours</Trans> : title}
    >
      <p className="mt-1 text-sm">
        <Reason gap={gap} />
      </p>
      <p className="mt-1 text-sm text-muted">
        <Trans>Signing is free.</Trans>
      </p>
      {step.name !== 'later' && <Signed asset={asset} intent={intent} />}
      {why && (
        <Banner className="mt-3" role="alert" tone="warn">
          {why}
        </Banner>
      )}
      {step.name === 'unreported' && (
        <Banner className="mt-3" role="alert" tone="warn">
          <Trans>Signed, but not received. Keep this page open.</Trans>
        </Banner>
      )}
      <BottomBar className="-mx-4 mt-4 -mb-4 flex flex-wrap gap-2 rounded-b-lg p-4">
        {step.name === 'unreported' ? (
          <Button
            className="max-sm:flex-auto max-sm:px-3"
            icon={<Icon name="refresh" />}
            onClick={() => void report(step.signature)}
            variant="primary"
          >
            <Trans>Send signature again</Trans>
          </Button>
        ) : (
          <SignButton
            account={account}
            onSign={() => void sign(text.data)}
            sender={intent.sender}
            step={step.name}
          />
        )}
        {step.name === 'asked' && (
          <Button
            className="max-sm:flex-auto max-sm:px-3"
            onClick={() => setStep({ name: 'later' })}
            variant="quiet"
          >
            <Trans>Later</Trans>
          </Button>
        )}
      </BottomBar>
    </Frame>
  )
}

/** What is signed, field by field. */
function Signed({
  intent,
  asset,
}: Pick<OpenEvidence, 'intent'> & Pick<EvidenceCardProps, 'asset'>) {
  const { t } = useLingui()
  const network = useNetwork(intent.network)
  return (
    <Facts className="mt-3 rounded-lg bg-sunken px-4 py-3">
      <Fact name={t`Payment ID`} long>
        <Address full noun="payment id" value={intent.paymentId} />
      </Fact>
      <Fact name={t`From`} long>
        <Address full value={intent.sender} />
      </Fact>
      <Fact name={t`To`} long>
        <Address full value={intent.recipient} />
      </Fact>
      <Fact name={t`Amount`}>
        <Amount
          atomic={intent.amountAtomic}
          decimals={asset.decimals}
          exact
          symbol={asset.symbol}
        />
      </Fact>
      <Fact name={t`Network`}>{network?.name ?? intent.network}</Fact>
      <Fact name={t`Transaction nonce`}>{intent.nonce}</Fact>
    </Facts>
  )
}

type SignButtonProps = {
  account: ConnectedAccount | undefined
  sender: string
  step: Step['name']
  onSign: () => void
}

/** Only the account that paid can sign. */
function SignButton({ account, sender, step, onSign }: SignButtonProps) {
  if (account?.address !== sender) {
    const paid = shortAddress(sender)
    return (
      <Button
        className="max-sm:flex-auto max-sm:px-3"
        icon={<Icon name="wallet" />}
        onClick={() => openConnectDialog('evm')}
        variant="primary"
      >
        <Trans>Connect {paid}</Trans>
      </Button>
    )
  }
  const { walletName } = account
  return (
    <Button
      busy={step === 'signing' || step === 'reporting'}
      className="max-sm:flex-auto max-sm:px-3"
      icon={<Icon name="wallet" />}
      onClick={onSign}
      variant="primary"
    >
      {step === 'signing' ? (
        <Trans>Approve in {walletName}</Trans>
      ) : (
        <Trans>Confirm with {walletName}</Trans>
      )}
    </Button>
  )
}

function Frame({
  heading: Heading,
  title,
  children,
}: {
  heading: 'h2' | 'h3'
  title: ReactNode
  children: ReactNode
}) {
  return (
    <section className="no-print mt-6 rounded-lg border border-edge p-4 text-start">
      <Heading className="text-base font-semibold">{title}</Heading>
      {children}
    </section>
  )
}

function Reason({ gap }: { gap: EvidenceGap }) {
  if (gap === 'fees_replaced') return <Trans>Your wallet changed the fee.</Trans>
  if (gap === 'no_fingerprint')
    return <Trans>The merchant cannot recognize your payment by its fee.</Trans>
  return <Trans>The merchant does not know who paid.</Trans>
}

/** Only what this page shows is ever signed, no matter what the service asks for. */
function Mismatch({ fields }: { fields: readonly string[] }) {
  const names = formatList(fields)
  return (
    <Banner
      className="mt-6 text-start"
      role="alert"
      title={<Trans>Do not sign: request differs</Trans>}
      tone="bad"
    >
      <Trans>Different: {names}. Your payment was sent. Contact the merchant.</Trans>
    </Banner>
  )
}

export type EvidenceResult =
  | { kind: 'signed'; signature: string }
  | { kind: 'rejected' }
  | { kind: 'not_signed'; why: string }

/** Has the payer's wallet sign that a payment is theirs. It moves nothing, and no way in which it can fail says anything about the payment. */
export async function signEvidence(
  network: Network,
  account: ConnectedAccount,
  data: PayerEvidenceRequest,
): Promise<EvidenceResult> {
  const { walletName } = account
  try {
    const { signTypedData } = await loadWalletAdapter('evm')
    const signature = await requestFromWallet({ family: 'evm', walletName }, () =>
      signTypedData(network, account, data),
    )
    if (signature !== null) return { kind: 'signed', signature }
    return {
      kind: 'not_signed',
      why: t`Answer ${walletName} in the other tab.`,
    }
  } catch (error) {
    const signal = signalOf(error)
    if (signal === 'rejected') return { kind: 'rejected' }
    if (signal === 'unsupported')
      return {
        kind: 'not_signed',
        why: t`Your wallet cannot sign this. Contact the merchant.`,
      }
    return {
      kind: 'not_signed',
      why: t`Not signed. Your payment is unaffected. Try again.`,
    }
  }
}

/** Tells the service. @throws ApiError */
export async function reportEvidence(evidence: {
  paymentId: string
  signature: string
  payerSignature: string
  payerNonce: number
}): Promise<void> {
  const { paymentId, signature, payerSignature } = evidence
  const idempotencyKey = `${paymentId}:${payerSignature.slice(2, 66)}:${signature.slice(2, 34)}`
  await requestWithRetry(() => call('transactionSubmitted', { body: evidence }, { idempotencyKey }))
}
