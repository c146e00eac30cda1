import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { useWatch, type UseFormReturn } from 'react-hook-form'
import { parseAddress } from '#contract/address.ts'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { refundableOf } from '#contract/payment.ts'
import { hasRole } from '#contract/role.ts'
import { useRole } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { AmountField } from '../../payment-flow/form/AmountField.tsx'
import {
  checkAmount,
  checkEmail,
  checkPriorityFee,
  checkRecipient,
  customFeeAtomic,
  paysOnly,
  readRecipient,
  type CheckoutFields,
} from '../../payment-flow/form/fields.ts'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import { RecipientField } from '../../payment-flow/form/RecipientField.tsx'
import {
  assetOn,
  recipientOn,
  reserveOf,
  type RefundedPayment,
} from '../../payment-flow/form/start-values.ts'
import { useInDashboard } from '../../shell/Shell.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import type { useAccounts } from '../../wallet/state/accounts.ts'
import { FeeField } from './FeeField.tsx'
import { FromAccount } from './FromAccount.tsx'
import { MoreFields } from './MoreFields.tsx'
import { NetworkFields } from './NetworkFields.tsx'
import { useFreshErrors } from './use-fresh-errors.ts'
import { useFunds } from '../../payment-flow/steps/use-funds.ts'
import { useSuggestedRecipient } from './use-suggested-recipient.ts'
import { Disclosure } from '../../ui/Disclosure.tsx'

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
          held={held}
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
      {link?.askEmail && <EmailField form={form} />}
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
          onChoose={(choice) => setValue('fee', choice)}
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
  const held = balances.asset > reserve ? balances.asset - reserve : 0n
  if (!refund) return held
  const left = refundableOf(refund)
  return held < left ? held : left
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
