import type { FieldErrors, UseFormRegister } from 'react-hook-form'
import type { Asset } from '#contract/network.ts'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { checkPriorityFee, checkResource, type Fields } from './fields.ts'

export type MoreFieldsProps = { asset: Asset; errors: FieldErrors<Fields>; register: UseFormRegister<Fields> }

/** What most payments do not need; open when something in it is wrong. */
export function MoreFields({ asset, errors, register }: MoreFieldsProps) {
  return (
    <details className="group" open={Boolean(errors.resource ?? errors.description ?? errors.reference ?? errors.priorityFee) || undefined}>
      <summary className="touch-target inline-flex cursor-pointer items-center gap-1.5 rounded-md text-sm font-medium text-muted hover:text-ink">
        <Icon className="transition-transform group-open:rotate-90" name="chevronRight" size={14} />
        Resource, reference and fee
      </summary>
      <div className="mt-4 space-y-5">
        <Field error={errors.resource?.message} hint="The web address this payment unlocks." label="Resource" optional>
          <Input inputMode="url" placeholder="https://" {...register('resource', { validate: checkResource })} />
        </Field>
        <div className="grid gap-5 sm:grid-cols-2">
          <Field error={errors.description?.message} hint="The seller reads it." label="Description" optional>
            <Input maxLength={200} {...register('description', { maxLength: { value: 200, message: 'At most 200 characters.' } })} />
          </Field>
          <Field error={errors.reference?.message} hint="An order or invoice number." label="Reference" optional>
            <Input maxLength={100} {...register('reference', { maxLength: { value: 100, message: 'At most 100 characters.' } })} />
          </Field>
        </div>
        <Field error={errors.priorityFee?.message} hint="What the validator gets on top, in all. Empty: set from recent blocks." label="Priority fee" optional>
          <Input
            inputMode="decimal"
            placeholder="Automatic"
            suffix={asset.symbol}
            {...register('priorityFee', { validate: (text) => checkPriorityFee(text, asset) })}
          />
        </Field>
      </div>
    </details>
  )
}
