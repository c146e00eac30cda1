import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import type { PaymentFilter } from '../../api/payment-filter.ts'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { Select } from '../../ui/Select.tsx'
import { localDecimalOf, plainDecimalOf } from '../../payment-view/filter-words.ts'

type Amounts = Pick<PaymentFilter, 'asset' | 'min' | 'max'>
type AmountFilterProps = {
  amounts: Amounts
  symbols: readonly string[]
  onChange: (amounts: Amounts) => void
}

/** An asset and a range of amounts of it. */
export function AmountFilter({ amounts, symbols, onChange }: AmountFilterProps) {
  const { t } = useLingui()
  return (
    <Popover
      label={t`Amount`}
      trigger={
        <>
          {amounts.asset ?? <Trans>Any amount</Trans>}
          <Icon className="text-muted" name="chevronDown" />
        </>
      }
    >
      {(close) => (
        <AmountForm
          amounts={amounts}
          key={JSON.stringify(amounts)}
          onChange={(next) => {
            onChange(next)
            close()
          }}
          symbols={symbols}
        />
      )}
    </Popover>
  )
}

function AmountForm({ amounts, symbols, onChange }: AmountFilterProps) {
  const [asset, setAsset] = useState(amounts.asset ?? '')
  const [min, setMin] = useState(localDecimalOf(amounts.min ?? ''))
  const [max, setMax] = useState(localDecimalOf(amounts.max ?? ''))
  const [least, most] = [plainDecimalOf(min), plainDecimalOf(max)]
  const wrong = <Trans>Omit thousands separators.</Trans>
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (least !== undefined && most !== undefined)
      onChange({ asset: asset || undefined, min: least || undefined, max: most || undefined })
  }
  return (
    <form className="grid gap-3" onSubmit={submit}>
      <Field label={<Trans>Asset</Trans>}>
        <Select onChange={(event) => setAsset(event.target.value)} value={asset}>
          <option value="">
            <Trans>Any asset</Trans>
          </option>
          {symbols.map((symbol) => (
            <option key={symbol} value={symbol}>
              {symbol}
            </option>
          ))}
        </Select>
      </Field>
      <Field error={least === undefined ? wrong : undefined} label={<Trans>At least</Trans>}>
        <Input
          inputMode="decimal"
          onChange={(event) => setMin(event.target.value)}
          suffix={asset}
          value={min}
        />
      </Field>
      <Field
        error={most === undefined ? wrong : undefined}
        hint={
          asset === '' && (min || max) ? (
            <Trans>Compares figures of all currencies.</Trans>
          ) : undefined
        }
        label={<Trans>At most</Trans>}
      >
        <Input
          inputMode="decimal"
          onChange={(event) => setMax(event.target.value)}
          suffix={asset}
          value={max}
        />
      </Field>
      <div className="mt-1 flex justify-end gap-2">
        <Button
          onClick={() => onChange({ asset: undefined, min: undefined, max: undefined })}
          size="sm"
          variant="quiet"
        >
          <Trans>Any amount</Trans>
        </Button>
        <Button size="sm" type="submit">
          <Trans>Apply</Trans>
        </Button>
      </div>
    </form>
  )
}
