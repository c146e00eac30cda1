import { Trans, useLingui } from '@lingui/react/macro'
import type { UseFormRegisterReturn } from 'react-hook-form'
import type { Asset } from '#contract/network.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Worth } from '../Worth.tsx'
import { readAmount, writeAmount } from './fields.ts'

export type AmountFieldProps = {
  asset: Asset
  value: string
  error: string | undefined
  /** What can be paid at most; unknown without a balance. */
  maxAtomic: bigint | undefined
  register: UseFormRegisterReturn<'amount'>
  onMax: (text: string) => void
}

/** How much, as a decimal of any length, told back as it was understood. */
export function AmountField({ asset, value, error, maxAtomic, register, onMax }: AmountFieldProps) {
  const { t } = useLingui()
  const parsed = readAmount(value, asset)
  const { decimals, symbol } = asset
  return (
    <Field
      error={error}
      hint={
        error !== undefined ? undefined : parsed.ok ? (
          <>
            <Trans>
              You pay <Amount atomic={parsed.atomic} decimals={decimals} exact symbol={symbol} />{' '}
              and the network fee
            </Trans>
            <Worth asset={asset} atomic={parsed.atomic} />
          </>
        ) : (
          t`Up to ${decimals} decimals.`
        )
      }
      label={t`Amount`}
    >
      <Input
        className="min-h-14 [&_input]:text-2xl [&_input]:font-semibold [&_input]:tracking-tight"
        inputMode="decimal"
        placeholder={writeAmount(0n, decimals)}
        suffix={
          <span className="flex items-center gap-2">
            <span className="text-sm font-medium">{symbol}</span>
            {maxAtomic !== undefined && maxAtomic > 0n && (
              <Button
                onClick={() => onMax(writeAmount(maxAtomic, decimals))}
                size="sm"
                title={asset.native ? t`Maximum after fee` : t`Maximum`}
              >
                <Trans>Max</Trans>
              </Button>
            )}
          </span>
        }
        {...register}
      />
    </Field>
  )
}
