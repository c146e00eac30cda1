import type { UseFormRegisterReturn } from 'react-hook-form'
import { formatAmount } from '#contract/amount.ts'
import type { Asset } from '#contract/network.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { readAmount } from './fields.ts'

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
  const parsed = readAmount(value, asset)
  return (
    <Field
      error={error}
      hint={
        parsed.ok ? (
          <>
            You pay exactly <Amount atomic={parsed.atomic} decimals={asset.decimals} exact symbol={asset.symbol} />
          </>
        ) : (
          `Up to ${asset.decimals} decimals.`
        )
      }
      label="Amount"
    >
      <Input
        className="min-h-14 [&_input]:text-2xl [&_input]:font-semibold [&_input]:tracking-tight"
        inputMode="decimal"
        placeholder="0.00"
        suffix={
          <span className="flex items-center gap-2">
            <span className="text-sm font-medium">{asset.symbol}</span>
            {maxAtomic !== undefined && maxAtomic > 0n && (
              <Button onClick={() => onMax(formatAmount(maxAtomic, asset.decimals))} size="sm" title="All but the network fee">
                Max
              </Button>
            )}
          </span>
        }
        {...register}
      />
    </Field>
  )
}
