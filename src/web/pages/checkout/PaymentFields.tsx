import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useEffect, useLayoutEffect } from 'react'
import { useWatch, type UseFormReturn, type UseFormRegister } from 'react-hook-form'
import { parseAddress } from '#contract/address.ts'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { refundableOf } from '#contract/payment.ts'
import { hasRole } from '#contract/role.ts'
import { useRole } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { AmountField } from '../../payment-flow/form/AmountField.tsx'
import { RecipientField } from '../../payment-flow/form/RecipientField.tsx'
import {
  checkAmount,
  checkEmail,
  checkPriorityFee,
  validateRecipient,
  customFeeAtomic,
  paysOnly,
  cleanRecipient,
  type CheckoutFields,
} from '../../payment-flow/form/fields.ts'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import {
  assetOn,
  recipientOn,
  reserveOf,
  type RefundedPayment,
} from '../../payment-flow/form/start-values.ts'
import { useFunds } from '../../payment-flow/steps/use-funds.ts'
import { useInDashboard } from '../../shell/Shell.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Disclosure } from '../../ui/Disclosure.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import type { useAccounts } from '../../wallet/state/accounts.ts'
import { FeeField, MoreFields } from './MoreFields.tsx'
import { FromAccount } from './FromAccount.tsx'

type PaymentFieldsProps = {
  form: UseFormReturn<CheckoutFields>
  network: Network
  asset: Asset
  account: ReturnType<typeof useAccounts>[number] | undefined
  link: OpenLink | undefined
  /** The page's address says whom to pay. */
  named: boolean
  /** The payment that its payee sends back. It sets the recipient, the network and the asset. */
  refund: RefundedPayment | undefined
}

/** In the order a payer thinks of them: how much, to whom, from where. */
export function PaymentFields({
  form,
  network,
  asset,
  account,
  link,
  named,
  refund,
}: PaymentFieldsProps) {
  const { register, control, getValues, setValue, formState } = form
  const { networks, sellerWallets, title } = useConfig()
  const operator = hasRole(useRole(), 'operator')
  const inDashboard = useInDashboard()
  const sellerOnly = !operator
  const [recipient, amount, fee, priorityFee] = useWatch({
    control,
    name: ['recipient', 'amount', 'fee', 'priorityFee'],
  })
  const { balanceOf, balances, loading, unreadable } = useFunds(network, account?.address, asset)
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
      {/* First: the button below stays in view, and a payer who presses it has seen the field. */}
      {link?.askEmail && <EmailField form={form} />}
      {set?.amountAtomic ? (
        <LockedAmountProblem message={errors.amount?.message} />
      ) : (
        <AmountField
          asset={asset}
          error={errors.amount?.message}
          maxAtomic={mostOf(balances, reserve, refund)}
          onMax={(text) => setValue('amount', text, { shouldValidate: true })}
          register={register('amount', {
            validate: (text) =>
              checkAmount(text, asset, {
                balanceAtomic: balances?.asset,
                refundableAtomic: refund && refundableOf(refund),
              }),
          })}
          value={amount}
        />
      )}
      {!link && !refund && (
        <NetworkFields
          balanceOf={balanceOf}
          network={network}
          networks={networks}
          onNetwork={changeNetwork}
          register={register}
        />
      )}
      {!link && !refund && (
        <RecipientField
          error={errors.recipient?.message}
          network={network}
          own={account?.address}
          onSuggest={(address) => setValue('recipient', address, { shouldValidate: true })}
          register={register('recipient', {
            validate: (text) => {
              const fits = validateRecipient(text, network, account?.address)
              if (fits !== true || !sellerOnly) return fits
              const read = parseAddress(cleanRecipient(text))
              return (read.ok && sellerWallets.includes(read.address)) || paysOnly(title)
            },
          })}
          sellerOnly={sellerOnly}
          sellerWallets={sellerWallets}
          value={recipient}
        />
      )}
      {(account || inDashboard) && (
        <FromAccount
          account={account}
          asset={asset}
          balances={balances}
          loading={loading}
          network={network}
          unreadable={unreadable}
        />
      )}
      <Options
        folded={!inDashboard}
        open={Boolean(
          errors.priorityFee ?? errors.resource ?? errors.description ?? errors.reference,
        )}
      >
        <FeeField
          asset={asset}
          error={errors.priorityFee?.message}
          network={network}
          onChoose={(choice) => {
            form.clearErrors('priorityFee')
            setValue('fee', choice)
          }}
          register={register('priorityFee', {
            validate: (text, all) =>
              all.fee !== 'custom' || checkPriorityFee(text, nativeAsset(network)),
          })}
          value={{ fee, priorityFee }}
        />
        <MoreFields
          refund={refund !== undefined}
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

type Balances = { asset: bigint }

/** What can be paid: the balance without the fee, and of a refund at most what is left. */
function mostOf(
  balances: Balances | undefined,
  reserve: bigint,
  refund: RefundedPayment | undefined,
): bigint | undefined {
  if (!balances) return refund && refundableOf(refund)
  const spendable = balances.asset > reserve ? balances.asset - reserve : 0n
  if (!refund) return spendable
  const left = refundableOf(refund)
  return spendable < left ? spendable : left
}

/** What a customer rarely needs, folded. */
function Options({
  folded,
  open,
  children,
}: {
  folded: boolean
  /** Something in it is wrong. */
  open: boolean
  children: ReactNode
}) {
  const { t } = useLingui()
  if (!folded) return children
  return (
    <Disclosure
      aria-label={t`More options`}
      label={<Trans>More options</Trans>}
      open={open || undefined}
    >
      <div className="mt-4 space-y-5">{children}</div>
    </Disclosure>
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

function EmailField({ form }: { form: UseFormReturn<CheckoutFields> }) {
  const { t } = useLingui()
  return (
    <Field error={form.formState.errors.email?.message} label={t`Email`} optional>
      <Input
        autoComplete="email"
        inputMode="email"
        maxLength={254}
        {...form.register('email', { validate: checkEmail })}
      />
    </Field>
  )
}

export type NetworkFieldsProps = {
  networks: readonly Network[]
  network: Network
  /** The payer's balance of an asset, once it is known. */
  balanceOf: (asset: string) => bigint | undefined
  register: UseFormRegister<CheckoutFields>
  onNetwork: () => void
}

/** The currency and the network. Shown only if there is a choice. */
function NetworkFields({ networks, network, balanceOf, register, onNetwork }: NetworkFieldsProps) {
  const { t } = useLingui()
  if (networks.length < 2 && network.assets.length < 2) return null
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <Field label={t`Currency`}>
        {/* The options are those of the network: another network starts a new choice. */}
        <Select key={network.network} {...register('asset')}>
          {network.assets.map((each) => {
            const atomic = balanceOf(each.address)
            return (
              <option key={each.address} value={each.address}>
                {atomic === undefined
                  ? each.symbol
                  : `${each.symbol} · ${formatAmountText(atomic, each.decimals).text}`}
              </option>
            )
          })}
        </Select>
      </Field>
      {networks.length > 1 && (
        <Field label={t`Network`}>
          <Select {...register('network', { onChange: onNetwork })}>
            {networks.map((each) => (
              <option key={each.network} value={each.network}>
                {each.name}
              </option>
            ))}
          </Select>
        </Field>
      )}
    </div>
  )
}

/** What is wrong with a field may be right for another account, currency or balance: then it is looked at again, and not before. */
function useFreshErrors(
  { getFieldState, trigger }: UseFormReturn<CheckoutFields>,
  circumstances: string,
): void {
  useEffect(() => {
    const wrong = (['recipient', 'amount'] as const).filter((name) => getFieldState(name).invalid)
    if (wrong.length > 0) void trigger(wrong)
  }, [circumstances, getFieldState, trigger])
}

/**
 * Follows the connected account: the seller's wallet is suggested to every payer except its owner.
 * A recipient named in the URL stays.
 */
function useSuggestedRecipient(
  { getValues, setValue }: UseFormReturn<CheckoutFields>,
  own: string | undefined,
  named: boolean,
): void {
  const { networks, sellerWallets } = useConfig()
  useLayoutEffect(() => {
    if (!named) setValue('recipient', recipientOn(networks, getValues(), { sellerWallets, own }))
  }, [own, named, networks, sellerWallets, getValues, setValue])
}
