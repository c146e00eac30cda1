import { useQuery } from '@tanstack/react-query'
import { useLingui } from '@lingui/react/macro'
import type { UseFormRegisterReturn } from 'react-hook-form'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { feeLevelsQuery } from './fee-levels.ts'
import {
  customFeeAtomic,
  feeCapOf,
  formatWithSymbol,
  type FeeChoice,
  type CheckoutFields,
} from '../../payment-flow/form/fields.ts'

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
          hint={t`Added in total for faster inclusion.`}
          label={t`Priority fee`}
        >
          <Input inputMode="decimal" suffix={native.symbol} {...register} />
        </Field>
      )}
      <p className="mt-1.5 text-sm text-muted" role="status">
        {error
          ? null
          : unread
            ? t`Recent fees are unavailable. Choose Auto or Custom.`
            : tip && value.fee !== 'custom'
              ? t`Priority fee ${tip}. Fee in total: up to ${cap}.`
              : t`Up to ${cap}. The next step shows the exact limit.`}
      </p>
    </div>
  )
}
