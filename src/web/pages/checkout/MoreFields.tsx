import { Trans, useLingui } from '@lingui/react/macro'
import type { FieldErrors, UseFormRegister, UseFormRegisterReturn } from 'react-hook-form'
import { useQuery } from '@tanstack/react-query'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { ReasonField, reasonRule } from '../../payment-flow/form/ReasonField.tsx'
import {
  checkResource,
  type CheckoutFields,
  customFeeAtomic,
  feeCapOf,
  formatWithSymbol,
  type FeeChoice,
} from '../../payment-flow/form/fields.ts'
import { Disclosure } from '../../ui/Disclosure.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { feeLevelsQuery, feesUnavailable } from './fee-levels.ts'

export type MoreFieldsProps = {
  errors: FieldErrors<CheckoutFields>
  register: UseFormRegister<CheckoutFields>
  /** Whether the payment returns another one, which has its reference and resource. */
  refund: boolean
  /** Set by a link, and shown there. */
  set: { resource: boolean; description: boolean; reference: boolean }
}

/** What most payments do not need; open when something in it is wrong. */
export function MoreFields({ errors, register, refund, set }: MoreFieldsProps) {
  const { t } = useLingui()
  if (refund)
    return (
      <ReasonField error={errors.description?.message} {...register('description', reasonRule())} />
    )
  if (set.resource && set.description && set.reference) return null
  return (
    <Disclosure
      open={Boolean(errors.resource ?? errors.description ?? errors.reference) || undefined}
      label={<Trans>Description and reference</Trans>}
    >
      <div className="mt-4 space-y-5">
        {!set.resource && (
          <Field
            error={errors.resource?.message}
            hint={t`URL to unlock`}
            label={t`Resource`}
            optional
          >
            <Input
              inputMode="url"
              placeholder="https://"
              {...register('resource', { validate: checkResource })}
            />
          </Field>
        )}
        <div className="grid gap-5 sm:grid-cols-2">
          {!set.description && (
            <Field
              error={errors.description?.message}
              hint={t`The merchant reads it.`}
              label={t`Description`}
              optional
            >
              <Input
                maxLength={200}
                {...register('description', {
                  maxLength: { value: 200, message: t`At most ${{ count: 200 }} characters.` },
                })}
              />
            </Field>
          )}
          {!set.reference && (
            <Field
              error={errors.reference?.message}
              hint={t`Order or invoice number`}
              label={t`Reference`}
              optional
            >
              <Input
                maxLength={100}
                {...register('reference', {
                  maxLength: { value: 100, message: t`At most ${{ count: 100 }} characters.` },
                })}
              />
            </Field>
          )}
        </div>
      </div>
    </Disclosure>
  )
}

export type FeeFieldProps = {
  network: Network
  asset: Asset
  value: Pick<CheckoutFields, 'fee' | 'priorityFee'>
  onChoose: (choice: FeeChoice) => void
  error: string | undefined
  register: UseFormRegisterReturn<'priorityFee'>
}

/** What the payer gives for a quick place in a block, and the most the network can take with it. */
export function FeeField({ network, asset, value, onChoose, error, register }: FeeFieldProps) {
  const { t } = useLingui()
  const levels = useQuery({
    ...feeLevelsQuery(network, asset),
    enabled: value.fee === 'low' || value.fee === 'high',
  })
  const native = nativeAsset(network)
  const chosen =
    value.fee === 'custom'
      ? customFeeAtomic(value, network)
      : value.fee === 'auto'
        ? undefined
        : levels.data?.[value.fee]
  const cap = formatWithSymbol(feeCapOf(network, asset, chosen), native)
  const tip = chosen === undefined ? '' : formatWithSymbol(chosen, native)
  const unread = levels.isError && (value.fee === 'low' || value.fee === 'high')

  return (
    <div>
      <p aria-hidden className="mb-1.5 text-sm font-medium">
        {t`Network fee`}
      </p>
      <Segmented
        className="flex w-full"
        label={t`Network fee`}
        onChange={onChoose}
        options={[
          { value: 'auto', label: t`Auto` },
          { value: 'low', label: t`Low` },
          { value: 'high', label: t`High` },
          { value: 'custom', label: t`Custom` },
        ]}
        value={value.fee}
      />
      {value.fee === 'custom' && (
        <Field
          className="mt-3"
          error={error}
          hint={t`Total, for faster inclusion.`}
          label={t`Priority fee`}
        >
          <Input inputMode="decimal" suffix={native.symbol} {...register} />
        </Field>
      )}
      <p className="mt-1.5 text-sm text-muted" role="status">
        {error
          ? value.fee !== 'custom' && error
          : unread
            ? feesUnavailable()
            : tip && value.fee !== 'custom'
              ? t`Priority fee ${tip}. Total fee: up to ${cap}.`
              : t`Up to ${cap}.`}
      </p>
    </div>
  )
}
