import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useId, useState } from 'react'
import { useForm, useWatch, type UseFormReturn } from 'react-hook-form'
import type { Family } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import { familyOf, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { serverNow } from '../../api/clock.ts'
import { queryClient } from '../../api/query-client.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeBeginFailure } from '../../payment-flow/begin-failure.ts'
import {
  checkoutIntentOf,
  customFeeAtomic,
  readAmount,
  cleanRecipient,
  type CheckoutFields,
} from '../../payment-flow/form/fields.ts'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import { formValues, type CheckoutPrefill } from '../../payment-flow/form/start-values.ts'
import { Steps } from '../../payment-flow/steps/Steps.tsx'
import { useBegin } from '../../payment-flow/steps/use-run.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { hrefOf } from '../../router/location.ts'
import { choiceOf } from '../../router/path-to-run.ts'
import { pathTo } from '../../router/paths.ts'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { BottomBar } from '../../ui/BottomBar.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'
import { useNow } from '../../ui/use-now.ts'
import { openConnectDialog, useAccounts, useConnectFirst } from '../../wallet/state/accounts.ts'
import { PaymentFields } from './PaymentFields.tsx'
import { PhonePay } from './PhonePay.tsx'
import { feeLevelsQuery, feesUnavailable } from './fee-levels.ts'

export type DetailsProps = {
  /** A payment that is changed: its inputs are kept. */
  previous: WalletPaymentIntent | undefined
  /** Until when what was prepared before can still be signed, in Unix milliseconds. It counts against what can be refunded. */
  blockedUntil: number | undefined
  /** Prepares at once what is asked for, where it is complete. */
  begin: boolean
  /** What is set above is not valid: nothing is reviewed or shown as a code. */
  invalid: boolean
  prefill: CheckoutPrefill
  /** What it sets is shown above, and no field here. */
  link: OpenLink | undefined
  onStart: (order: WalletPaymentIntent) => Promise<void>
  /** What was typed into a form of this link before. */
  typed: CheckoutFields | undefined
  onType: (fields: CheckoutFields) => void
  onUse: (() => void) | undefined
  onConnect: (() => void) | undefined
  connecting: boolean
  onNetwork: ((network: string) => void) | undefined
}

/** Step 1: who gets how much, on which network. Nothing is asked of a wallet or a network but balances and recent fees. */
export function Details({
  previous,
  blockedUntil = 0,
  begin: beginsAtOnce,
  invalid,
  prefill,
  link,
  onStart,
  typed,
  onType,
  onUse,
  onConnect,
  connecting: connectsAny,
  onNetwork,
}: DetailsProps) {
  const { t } = useLingui()
  const formId = useId()
  const config = useConfig()
  const defaultValues = formValues({ previous, typed, link, prefill }, config)
  const form = useForm<CheckoutFields>({ defaultValues })
  useTyped(form, onType)
  const [networkId, assetAddress] = useWatch({ control: form.control, name: ['network', 'asset'] })
  const [failure, setFailure] = useState<string>()
  useEffect(() => onNetwork?.(networkId), [onNetwork, networkId])
  const accounts = useAccounts()
  const { checking, payableBy, connect, forget } = useConnectToPay(link)
  const network = config.networks.find((each) => each.network === networkId) ?? config.networks[0]
  if (!network) return <Banner tone="bad">{t`No network configured. Tell the operator.`}</Banner>
  const asset = network.assets.find((each) => each.address === assetAddress) ?? nativeAsset(network)
  const account = accounts.find((each) => each.family === familyOf(network.network))
  const begin = beginsAtOnce || (account !== undefined && account.address === payableBy)
  const connecting = connectsAny || checking
  const ownLink = account !== undefined && account.address === link?.terms.recipient
  const { refund } = prefill
  const otherPayer =
    refund !== undefined && account !== undefined && account.address !== refund.recipient
  const ready = account !== undefined && !ownLink && !otherPayer

  function openConnect(family: Family) {
    if (onConnect) return onConnect()
    return link?.terms.amountAtomic ? connect(family) : openConnectDialog(family)
  }

  async function submit(fields: CheckoutFields) {
    forget()
    if (invalid || !network) return
    if (!account || !ready) return openConnect(familyOf(network.network))
    setFailure(undefined)
    const priorityFeeAtomic = await priorityFeeOf(fields, network, asset).catch(() => null)
    if (priorityFeeAtomic === null)
      return form.setError('priorityFee', { message: feesUnavailable() })
    const refundOf = refund?.paymentId ?? previous?.refundOf
    try {
      const terms = { network, asset, account, link, refundOf, priorityFeeAtomic }
      const order = checkoutIntentOf(fields, terms)
      const { breachOf } = await import('../../payment-flow/form/spending-limit.ts')
      const breach = await breachOf(order)
      if (breach) return form.setError('amount', { message: breach }, { shouldFocus: true })
      await onStart(order)
    } catch (error) {
      setFailure(describeBeginFailure(error))
    }
  }

  /** For a wallet that reads a code: the same order, from an address that is not connected here. */
  function orderFrom(sender: string): WalletPaymentIntent | undefined {
    if (!network) return undefined
    try {
      const family = familyOf(network.network)
      const account = { family, address: sender, walletId: '', walletName: t`your wallet` }
      const order = checkoutIntentOf(form.getValues(), {
        network,
        asset,
        account,
        link,
        refundOf: prefill.refund?.paymentId ?? previous?.refundOf,
        priorityFeeAtomic: undefined,
      })
      return { ...order, byCode: true }
    } catch {
      // Not filled in yet.
      return undefined
    }
  }

  return (
    <>
      {!link && <Steps current="details" />}
      <Card>
        <form
          className="space-y-5"
          id={formId}
          noValidate
          onFocus={onUse && (({ target }) => target instanceof HTMLButtonElement || onUse())}
          onSubmit={(event) => void form.handleSubmit(submit)(event)}
        >
          <Failure text={failure} />
          {ownLink && <OwnLink />}
          <PaymentFields
            account={account}
            named={prefill.to !== undefined}
            refund={refund}
            asset={asset}
            form={form}
            link={link}
            network={network}
          />
          {otherPayer && <OtherPayer expected={refund.recipient} />}
        </form>
      </Card>
      <BottomBar className="mt-4 space-y-3 py-4" page>
        {ready ? (
          <ReviewButton
            begin={begin}
            busy={connecting || form.formState.isSubmitting}
            blockedUntil={blockedUntil}
            form={formId}
            invalid={invalid}
            onBegin={() => void form.handleSubmit(submit)()}
            refund={refund !== undefined}
          />
        ) : (
          <ConnectButton
            another={ownLink || otherPayer}
            busy={connecting}
            onConnect={() => openConnect(familyOf(network.network))}
          />
        )}
        {!refund && !invalid && (
          <PhonePay
            network={network.network}
            onStart={onStart}
            orderFrom={orderFrom}
            pageOf={() => pageOf(form.getValues(), asset, link)}
          />
        )}
        <Reassurance connecting={connecting} />
      </BottomBar>
    </>
  )
}

/** Connects a wallet for what a link asks, and goes on unless the account is known to hold too little. `payableBy`: the account that may pay. */
function useConnectToPay(link: OpenLink | undefined) {
  const [checking, setChecking] = useState(false)
  const [payableBy, setPayableBy] = useState<string>()
  const connect = useConnectFirst((connected) => {
    if (!link) return
    setChecking(true)
    void import('./payable-options.ts')
      .then(async ({ bestOption, isShort }) => {
        const option = await bestOption([link], [connected])
        if (option && !isShort(option)) setPayableBy(connected.address)
      })
      // What cannot be read begins nothing: the payer presses Review.
      .catch(() => undefined)
      .finally(() => setChecking(false))
  })
  return { checking, payableBy, connect, forget: () => setPayableBy(undefined) }
}

function Reassurance({ connecting }: { connecting: boolean }) {
  return (
    <p className="text-center text-sm text-muted" role="status">
      {connecting ? (
        <Trans>Checking your balance.</Trans>
      ) : (
        <Trans>You won’t be charged yet.</Trans>
      )}
    </p>
  )
}

function Failure({ text }: { text: string | undefined }) {
  return text ? (
    <Banner role="alert" tone="bad">
      {text}
    </Banner>
  ) : null
}

function OwnLink() {
  const { t } = useLingui()
  return (
    <Banner role="note" tone="warn">
      {t`This link pays your own wallet.`}
    </Banner>
  )
}

function OtherPayer({ expected }: { expected: string }) {
  const { t } = useLingui()
  return (
    <Banner role="note" title={t`Connect the receiving wallet`} tone="warn">
      <Address copy full value={expected} />
    </Banner>
  )
}

function ConnectButton({
  another,
  busy,
  onConnect,
}: {
  another: boolean
  busy: boolean
  onConnect: () => void
}) {
  return (
    <Button
      busy={busy}
      icon={<Icon name="wallet" />}
      onClick={onConnect}
      size="lg"
      variant="primary"
      wide
    >
      {another ? <Trans>Connect another account</Trans> : <Trans>Connect a wallet to pay</Trans>}
    </Button>
  )
}

type ReviewButtonProps = {
  /** The id of the form that it submits. */
  form: string
  begin: boolean
  onBegin: () => void
  busy: boolean
  blockedUntil: number
  invalid: boolean
  refund: boolean
}

/** What was prepared before and left can still be signed for a while, and is part of what a payment may return. */
function ReviewButton({
  form,
  begin,
  onBegin,
  busy,
  blockedUntil,
  invalid,
  refund,
}: ReviewButtonProps) {
  useBegin(begin, onBegin)
  useNow()
  const wait = refund && blockedUntil > serverNow()
  return (
    <>
      <Button
        busy={busy}
        disabled={wait || invalid}
        form={form}
        size="lg"
        type="submit"
        variant="primary"
        wide
      >
        {refund ? <Trans>Review refund</Trans> : <Trans>Review payment</Trans>}
      </Button>
      {wait && (
        <p className="text-center text-sm text-muted" role="status">
          <Trans>
            Your earlier unsigned refund blocks this until <Time at={blockedUntil} look="seconds" />
            .
          </Trans>
        </p>
      )}
    </>
  )
}

function useTyped(
  { subscribe }: UseFormReturn<CheckoutFields>,
  onType: DetailsProps['onType'],
): void {
  useEffect(
    () => subscribe({ formState: { values: true }, callback: ({ values }) => onType(values) }),
    [subscribe, onType],
  )
}

/** This page with what was entered, for another device. */
function pageOf(
  { network, recipient, amount, resource, description, reference }: CheckoutFields,
  asset: Asset,
  link: OpenLink | undefined,
): URL {
  const read = readAmount(amount, asset)
  const entered = {
    network,
    asset: asset.address,
    to: cleanRecipient(recipient),
    amount: read.ok ? formatAmount(read.atomic, asset.decimals) : '',
  }
  const choice = link?.choice && choiceOf(link.terms, link.choice.pieces)
  const path = link
    ? pathTo('payLink', { params: { link: link.text }, search: { ...choice } })
    : pathTo('checkout', { search: { ...entered, resource, description, reference } })
  return new URL(hrefOf(path), window.location.origin)
}

async function priorityFeeOf(
  fields: CheckoutFields,
  network: Network,
  asset: Asset,
): Promise<bigint | undefined> {
  if (fields.fee === 'auto' || fields.fee === 'custom') return customFeeAtomic(fields, network)
  return (await queryClient.ensureQueryData(feeLevelsQuery(network, asset)))[fields.fee]
}
