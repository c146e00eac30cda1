import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect } from 'react'
import { useForm, useWatch, type FieldErrors, type UseFormRegister } from 'react-hook-form'
import { parseAddress } from '#contract/address.ts'
import { formatAmount, parseAmount } from '#contract/amount.ts'
import type { HostedWallet } from '#contract/hosted-endpoints.ts'
import { HOSTED_LIMITS, hostedLimitReason } from '#contract/hosted-intent.ts'
import { familyOf, findAsset, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { refundableOf } from '#contract/payment.ts'
import { useSession } from '../../../api/session.ts'
import { formatLimit } from '../../../errors/payment-reasons.ts'
import type { UserError } from '../../../payment-intent/intent.ts'
import { SignIn } from '../../../shell/SignIn.tsx'
import { useConfig } from '../../../api/use-config.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Field } from '../../../ui/Field.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Input } from '../../../ui/Input.tsx'
import { Select } from '../../../ui/Select.tsx'
import { openConnectDialog, useAccounts } from '../../../wallet/state/accounts.ts'
import { AmountField } from '../../../payment-flow/form/AmountField.tsx'
import {
  checkAmount,
  checkPriorityFee,
  validateRecipient,
  checkResource,
  readAmount,
  cleanRecipient,
  formatWithSymbol,
} from '../../../payment-flow/form/fields.ts'
import { HostedCaps, leftOf } from '../../../payment-flow/form/HostedCaps.tsx'
import { RecipientField } from '../../../payment-flow/form/RecipientField.tsx'
import { useFunds, type PayerFunds } from '../../../payment-flow/steps/use-funds.ts'
import { ReasonField, reasonRule } from '../../../payment-flow/form/ReasonField.tsx'
import { useBegin } from '../../../payment-flow/steps/use-run.ts'
import type { RefusedField } from './machine.ts'
import type { HostedOrder } from './send.ts'
import type { HostedFields, HostedRefund } from './start.ts'

export type HostedFormProps = {
  wallets: readonly HostedWallet[]
  start: HostedFields
  userError: UserError | null
  field: RefusedField | undefined
  onPrepare: (order: HostedOrder, fields: HostedFields) => void
  refund: HostedRefund | undefined
  /** Prepares at once what is asked for, where it is complete. */
  begin: boolean
}

/** The managed wallet to pay from, the recipient, and the amount. */
export function HostedForm({
  wallets,
  start,
  userError,
  field,
  onPrepare,
  refund,
  begin,
}: HostedFormProps) {
  const { t } = useLingui()
  const { networks, sellerWallets } = useConfig()
  const form = useForm<HostedFields>({
    defaultValues: start,
    // Of an earlier try: the banner above says what to do.
    ...(field &&
      userError && {
        errors: {
          [field]: { type: 'refused', message: userError.fields?.[field] ?? userError.title },
        },
      }),
  })
  const { register, control, handleSubmit, setValue, setFocus, formState } = form
  useEffect(() => {
    if (field) setFocus(field)
  }, [field, setFocus])
  const [source, recipient, amount] = useWatch({ control, name: ['source', 'recipient', 'amount'] })
  const accounts = useAccounts()
  const chosen = wallets[Number(source)] ?? wallets[0]
  const network = networks.find((each) => each.network === chosen?.network)
  const asset = network && chosen && findAsset(network, chosen.asset)
  const funds = useFunds(network, chosen?.wallet, asset)
  const signer = network && accounts.find((each) => each.family === familyOf(network.network))
  if (!chosen || !network || !asset)
    return <Banner tone="bad">{t`No network configured. Tell the operator.`}</Banner>
  const { errors } = formState
  const native = nativeAsset(network)

  function submit(fields: HostedFields) {
    if (!network || !asset || !chosen || !signer) return
    const typed = readFields(fields, { network, asset })
    if (!typed) return
    const refundOf = refund?.payment.paymentId ?? ''
    onPrepare({ network, asset, from: chosen.wallet, signer, refundOf, ...typed }, fields)
  }

  return (
    <Card>
      <form className="space-y-5" noValidate onSubmit={(event) => void handleSubmit(submit)(event)}>
        {userError && (
          <Banner role="alert" title={userError.title} tone="warn">
            {userError.body}
          </Banner>
        )}
        <AmountField
          asset={asset}
          error={errors.amount?.message}
          maxAtomic={undefined}
          onMax={() => undefined}
          register={register('amount', {
            validate: (text) => checkHostedAmount(text, asset, chosen),
          })}
          value={amount}
        />
        <Field
          aside={<WalletBalance asset={asset} funds={funds} />}
          hint={<HostedCaps asset={asset} wallet={chosen} />}
          label={t`From the managed wallet`}
        >
          <Select {...register('source')}>
            {wallets.map((each, index) => (
              <option key={`${each.wallet} ${each.network} ${each.asset}`} value={String(index)}>
                {labelOf(each, networks)}
              </option>
            ))}
          </Select>
        </Field>
        {!refund && (
          <RecipientField
            error={errors.recipient?.message}
            network={network}
            own={chosen.wallet}
            onSuggest={(address) => setValue('recipient', address, { shouldValidate: true })}
            register={register('recipient', {
              validate: (text) => validateRecipient(text, network, chosen.wallet),
            })}
            sellerOnly={false}
            sellerWallets={sellerWallets}
            value={recipient}
          />
        )}
        <FeeField error={errors.priorityFee?.message} native={native} register={register} />
        {refund ? (
          <ReasonField
            error={errors.description?.message}
            {...register('description', reasonRule())}
          />
        ) : (
          <WordFields errors={errors} register={register} />
        )}
        <SubmitOrSign
          network={network}
          begin={begin}
          onBegin={() => void handleSubmit(submit)()}
          refund={refund !== undefined}
          signer={signer?.address}
        />
      </form>
    </Card>
  )

  function checkHostedAmount(text: string, of: Asset, wallet: HostedWallet): string | true {
    const plain = checkAmount(text, of, {
      balanceAtomic: funds.balances?.asset,
      refundableAtomic: refund && refundableOf(refund.payment),
    })
    const read = readAmount(text, of)
    if (plain !== true || !read.ok) return plain
    const limit = of.native && !refund ? hostedLimitReason('amount', read.atomic, of) : undefined
    if (limit) return formatLimit(limit)
    if (read.atomic <= leftOf(wallet)) return true
    const maximum = formatWithSymbol(leftOf(wallet), of)
    return t`Enter at most ${maximum}.`
  }
}

/** Undefined where a field cannot be read: the form shows why. */
function readFields(
  fields: HostedFields,
  { network, asset }: { network: Network; asset: Asset },
): Omit<HostedOrder, 'network' | 'asset' | 'from' | 'signer' | 'refundOf'> | undefined {
  const to = parseAddress(cleanRecipient(fields.recipient))
  const read = readAmount(fields.amount, asset)
  if (!to.ok || !read.ok) return undefined
  const native = nativeAsset(network)
  const fee = readAmount(fields.priorityFee, native)
  return {
    to: to.address,
    amountAtomic: read.atomic,
    priorityFee: fee.ok ? formatAmount(fee.atomic, native.decimals) : '',
    resource: fields.resource.trim(),
    description: fields.description.trim(),
    reference: fields.reference.trim(),
  }
}

function WordFields({
  errors,
  register,
}: {
  errors: FieldErrors<HostedFields>
  register: UseFormRegister<HostedFields>
}) {
  const { t } = useLingui()
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t`Description`} optional>
          <Input maxLength={200} {...register('description')} />
        </Field>
        <Field label={t`Reference`} optional>
          <Input maxLength={100} {...register('reference')} />
        </Field>
      </div>
      <Field error={errors.resource?.message} label={t`Resource`} optional>
        <Input
          inputMode="url"
          placeholder="https://"
          {...register('resource', { validate: checkResource })}
        />
      </Field>
    </>
  )
}

/** What a priority fee may be, spelled for the reader. */
function feeBounds(native: Asset): [string, string] {
  const formatBound = (bound: string) => {
    const parsed = parseAmount(bound, native.decimals)
    return parsed.ok ? formatWithSymbol(parsed.atomic, native) : bound
  }
  const { minimum, maximum } = HOSTED_LIMITS.priorityFee
  return [formatBound(minimum), formatBound(maximum)]
}

type FeeFieldProps = {
  native: Asset
  error: string | undefined
  register: UseFormRegister<HostedFields>
}

function FeeField({ native, error, register }: FeeFieldProps) {
  const [leastFee, mostFee] = feeBounds(native)
  return (
    <Field
      error={error}
      hint={
        <Trans>
          {leastFee} to {mostFee}, for faster inclusion.
        </Trans>
      }
      label={<Trans>Priority fee</Trans>}
      optional
    >
      <Input
        inputMode="decimal"
        suffix={native.symbol}
        {...register('priorityFee', { validate: (text) => checkHostedFee(text, native) })}
      />
    </Field>
  )
}

function checkHostedFee(text: string, native: Asset): string | true {
  if (text.trim() === '') return true
  const plain = checkPriorityFee(text, native)
  const read = readAmount(text, native)
  if (plain !== true || !read.ok) return plain
  const limit = hostedLimitReason('priorityFee', read.atomic, native)
  return limit === undefined || formatLimit(limit)
}

/** What the managed wallet holds, read from the chain by this browser. */
function WalletBalance({ asset, funds }: { asset: Asset; funds: PayerFunds }) {
  if (funds.balances === undefined)
    return funds.unreadable ? <Trans>Balance unavailable</Trans> : null
  return (
    <Trans>
      Balance{' '}
      <Amount atomic={funds.balances.asset} decimals={asset.decimals} symbol={asset.symbol} />
    </Trans>
  )
}

/**
 * The signing wallet must be one of this operator session's wallets: one that is only connected
 * must sign in first.
 */
function SubmitOrSign({
  network,
  signer,
  ...submit
}: SubmitProps & {
  network: Network
  signer: string | undefined
}) {
  const session = useSession()
  const proven =
    signer !== undefined && session.kind === 'known' && session.session?.wallets.includes(signer)
  if (signer === undefined) {
    return (
      <Button
        icon={<Icon name="wallet" />}
        onClick={() => openConnectDialog(familyOf(network.network))}
        size="lg"
        variant="primary"
        wide
      >
        <Trans>Connect a wallet</Trans>
      </Button>
    )
  }
  if (!proven) {
    return (
      <div className="space-y-2">
        <p className="text-sm text-muted">
          <Trans>
            <Address value={signer} /> must sign in first.
          </Trans>
        </p>
        <SignIn />
      </div>
    )
  }
  return <Submit {...submit} />
}

type SubmitProps = { begin: boolean; onBegin: () => void; refund: boolean }

function Submit({ begin, onBegin, refund }: SubmitProps) {
  useBegin(begin, onBegin)
  return (
    <Button size="lg" type="submit" variant="primary" wide>
      {refund ? <Trans>Review refund</Trans> : <Trans>Review payment</Trans>}
    </Button>
  )
}

function labelOf(
  { name, network, asset, wallet }: HostedWallet,
  networks: readonly Network[],
): string {
  const known = networks.find((each) => each.network === network)
  const symbol = known && findAsset(known, asset)?.symbol
  return `${name} · ${known?.name ?? network} · ${symbol ?? asset} · ${wallet.slice(0, 6)}…${wallet.slice(-4)}`
}
