import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type ReactNode, type RefObject } from 'react'
import { useForm, useWatch, type UseFormReturn } from 'react-hook-form'
import { parseAddress } from '#contract/address.ts'
import { familyOf, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { formatAmount } from '#contract/amount.ts'
import { pathTo } from '../../router/paths.ts'
import { hrefOf } from '../../router/location.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { queryClient } from '../../api/query-client.ts'
import { useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { openConnectDialog, useAccounts, useConnectFirst } from '../../wallet/state/accounts.ts'
import { AmountField } from '../../payment-flow/form/AmountField.tsx'
import { FeeField } from './FeeField.tsx'
import { feeLevelsQuery } from './fee-levels.ts'
import {
  checkAmount,
  checkEmail,
  checkPriorityFee,
  checkRecipient,
  customFeeAtomic,
  paysOnly,
  readAmount,
  readRecipient,
  type CheckoutFields,
} from '../../payment-flow/form/fields.ts'
import { FromAccount } from './FromAccount.tsx'
import { MoreFields } from './MoreFields.tsx'
import { NetworkFields } from './NetworkFields.tsx'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import { PhonePay } from './PhonePay.tsx'
import { RecipientField } from '../../payment-flow/form/RecipientField.tsx'
import { breachOf } from './spending.ts'
import {
  assetOn,
  intentOf,
  recipientOn,
  reserveOf,
  startValues,
  type CheckoutPrefill,
} from '../../payment-flow/form/start-values.ts'
import { Steps } from '../../payment-flow/steps/Steps.tsx'
import { useFreshErrors } from './use-fresh-errors.ts'
import { useFunds } from './use-funds.ts'
import { useSuggestedRecipient } from './use-suggested-recipient.ts'

export type DetailsProps = {
  /** A payment that is changed: its inputs are kept. */
  previous: WalletPaymentIntent | undefined
  asked: CheckoutPrefill
  /** What it sets is shown above, and no field here. */
  link: OpenLink | undefined
  onStart: (order: WalletPaymentIntent) => Promise<void>
  /** What was typed into a form before this one. */
  email: RefObject<string>
}

/** Step 1: who gets how much, on which network. Nothing is asked of a wallet or a network but balances and recent fees. */
export function Details({ previous, asked, link, onStart, email }: DetailsProps) {
  const { t } = useLingui()
  const { networks, sellerWallets } = useConfig()
  const form = useForm<CheckoutFields>({
    defaultValues: {
      ...startValues(previous, asked, { networks, sellerWallets }),
      ...(!previous && { email: email.current }),
    },
  })
  const [networkId, assetAddress] = useWatch({ control: form.control, name: ['network', 'asset'] })
  const [userError, setUserError] = useState<string>()
  const accounts = useAccounts()
  const connect = useConnectFirst(({ address }) => {
    if (address !== link?.terms.recipient) void form.handleSubmit(submit)()
  })
  const network = networks.find((each) => each.network === networkId) ?? networks[0]
  if (!network) return <Banner tone="bad">{t`No network is configured. Tell the operator.`}</Banner>
  const asset = network.assets.find((each) => each.address === assetAddress) ?? nativeAsset(network)
  const account = accounts.find((each) => each.family === familyOf(network.network))
  const ownLink = account !== undefined && account.address === link?.terms.recipient

  async function submit(fields: CheckoutFields) {
    if (!network || !account || ownLink)
      return openConnectDialog(network && familyOf(network.network))
    setUserError(undefined)
    try {
      const order = intentOf(fields, {
        network,
        asset,
        account,
        link,
        refundOf: asked.refundOf,
        priorityFeeAtomic: await priorityFeeOf(fields, network, asset),
      })
      const breach = await breachOf(order)
      if (breach) return form.setError('amount', { message: breach }, { shouldFocus: true })
      await onStart(order)
    } catch (error) {
      setUserError(error instanceof Error ? error.message : t`unknown reason`)
    }
  }

  /** For a wallet that reads a code: the same order, from an address that is not connected here. */
  function orderFrom(sender: string): WalletPaymentIntent | undefined {
    if (!network) return undefined
    try {
      const account = {
        family: familyOf(network.network),
        address: sender,
        walletId: '',
        walletName: '',
      }
      return intentOf(form.getValues(), {
        network,
        asset,
        account,
        link,
        refundOf: asked.refundOf,
        priorityFeeAtomic: undefined,
      })
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
          noValidate
          onSubmit={(event) => void form.handleSubmit(submit)(event)}
        >
          {userError && (
            <Banner role="alert" title={t`This payment could not be started`} tone="bad">
              {userError}{' '}
              {t`This browser cannot store payments, perhaps in a private window. Nothing was sent.`}
            </Banner>
          )}
          {ownLink && (
            <Banner
              role="note"
              title={t`This link pays the wallet you are connected with`}
              tone="warn"
            >
              <Trans>To try it, use another account.</Trans>
            </Banner>
          )}
          <PaymentFields
            account={account}
            named={asked.to !== undefined}
            refund={asked.refundOf !== undefined}
            asset={asset}
            form={form}
            link={link}
            network={network}
          />
          {link?.askEmail && (
            <Field error={form.formState.errors.email?.message} label={t`Email`} optional>
              <Input
                autoComplete="email"
                inputMode="email"
                maxLength={254}
                {...form.register('email', {
                  validate: checkEmail,
                  onChange: ({ target }) => (email.current = target.value),
                })}
              />
            </Field>
          )}
          {account && !ownLink ? (
            <Button
              busy={form.formState.isSubmitting}
              size="lg"
              type="submit"
              variant="primary"
              wide
            >
              <Trans>Review payment</Trans>
            </Button>
          ) : (
            <Button
              icon={<Icon name="wallet" />}
              onClick={() =>
                link?.terms.amountAtomic
                  ? connect(familyOf(network.network))
                  : openConnectDialog(familyOf(network.network))
              }
              size="lg"
              variant="primary"
              wide
            >
              {ownLink ? (
                <Trans>Connect another account</Trans>
              ) : (
                <Trans>Connect a wallet to pay</Trans>
              )}
            </Button>
          )}
          <p className="text-center text-sm text-muted">
            <Trans>You won’t be charged yet.</Trans>
          </p>
        </form>
        <PhonePay
          network={network.network}
          orderFrom={orderFrom}
          pageOf={() => pageOf(form.getValues(), asset, link)}
        />
      </Card>
    </>
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
    to: readRecipient(recipient),
    amount: read.ok ? formatAmount(read.atomic, asset.decimals) : '',
  }
  const path = link
    ? pathTo('payLink', { params: { link: link.text } })
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

type PaymentFieldsProps = {
  form: UseFormReturn<CheckoutFields>
  network: Network
  asset: Asset
  account: ReturnType<typeof useAccounts>[number] | undefined
  link: OpenLink | undefined
  /** The page's address says whom to pay. */
  named: boolean
  /** The payee of a payment sends it back. */
  refund: boolean
}

/** In the order a payer thinks of them: how much, to whom, from where. */
function PaymentFields({ form, network, asset, account, link, named, refund }: PaymentFieldsProps) {
  const { register, control, getValues, setValue, formState } = form
  const { networks, sellerWallets, title } = useConfig()
  const session = useSession()
  const operator = session.kind === 'known' && session.session?.operator === true
  const sellerOnly = !operator && !refund
  const [recipient, amount, fee, priorityFee] = useWatch({
    control,
    name: ['recipient', 'amount', 'fee', 'priorityFee'],
  })
  const { held, balances, loading, unreadable } = useFunds(network, account?.address, asset)
  const reserve = reserveOf(network, asset, customFeeAtomic({ fee, priorityFee }, network))
  const { errors } = formState
  useSuggestedRecipient(form, account?.address, named || link !== undefined)
  useFreshErrors(
    form,
    [account?.address, asset.address, network.network, balances?.asset].join(' '),
  )
  const set = link?.terms

  function changeNetwork() {
    const next = networks.find((each) => each.network === getValues('network'))
    if (next) setValue('asset', assetOn(next, asset.symbol).address)
    setValue(
      'recipient',
      recipientOn(networks, getValues(), { sellerWallets, own: account?.address }),
    )
  }

  return (
    <>
      {set?.amountAtomic ? (
        <LockedAmountProblem message={errors.amount?.message} />
      ) : (
        <AmountField
          asset={asset}
          error={errors.amount?.message}
          maxAtomic={balances && (balances.asset > reserve ? balances.asset - reserve : 0n)}
          onMax={(text) => setValue('amount', text, { shouldValidate: true })}
          register={register('amount', {
            validate: (text) => checkAmount(text, asset, balances?.asset),
          })}
          value={amount}
        />
      )}
      {!link && (
        <NetworkFields
          held={held}
          network={network}
          networks={networks}
          onNetwork={changeNetwork}
          register={register}
        />
      )}
      {!link && (
        <RecipientField
          error={errors.recipient?.message}
          network={network}
          own={account?.address}
          onSuggest={(address) => setValue('recipient', address, { shouldValidate: true })}
          register={register('recipient', {
            validate: (text) => {
              const fits = checkRecipient(text, network, account?.address)
              if (fits !== true || !sellerOnly) return fits
              const read = parseAddress(readRecipient(text))
              return (read.ok && sellerWallets.includes(read.address)) || paysOnly(title)
            },
          })}
          sellerOnly={sellerOnly}
          sellerWallets={sellerWallets}
          value={recipient}
        />
      )}
      {(account || !link) && (
        <FromAccount
          account={account}
          asset={asset}
          balances={balances}
          loading={loading}
          network={network}
          unreadable={unreadable}
        />
      )}
      <Options folded={link !== undefined}>
        <FeeField
          asset={asset}
          error={errors.priorityFee?.message}
          network={network}
          onChoose={(choice) => setValue('fee', choice)}
          register={register('priorityFee', {
            validate: (text, all) =>
              all.fee !== 'custom' || checkPriorityFee(text, nativeAsset(network)),
          })}
          value={{ fee, priorityFee }}
        />
        <MoreFields
          errors={errors}
          register={register}
          set={{
            resource: link !== undefined,
            description: Boolean(set?.description),
            reference: Boolean(set?.reference),
          }}
        />
      </Options>
    </>
  )
}

/** What a customer with a link rarely needs, folded. */
function Options({ folded, children }: { folded: boolean; children: ReactNode }) {
  const { t } = useLingui()
  if (!folded) return children
  return (
    <details aria-label={t`More options`} className="group">
      <summary className="touch-target inline-flex cursor-pointer items-center gap-1.5 rounded-md text-sm font-medium text-muted hover:text-ink">
        <Icon className="transition-transform group-open:rotate-90" name="chevronRight" size={14} />
        <Trans>More options</Trans>
      </summary>
      <div className="mt-4 space-y-5">{children}</div>
    </details>
  )
}

/** The amount of a link has no field; what stands in its way is told where the field would be. */
function LockedAmountProblem({ message }: { message: string | undefined }) {
  return message ? (
    <Banner role="alert" tone="warn">
      {message}
    </Banner>
  ) : null
}
