import { Trans, useLingui } from '@lingui/react/macro'
import type { FieldErrors, UseFormRegister } from 'react-hook-form'
import { ReasonField, reasonRule } from '../../payment-flow/form/ReasonField.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { checkResource, type CheckoutFields } from '../../payment-flow/form/fields.ts'
import { Disclosure } from '../../ui/Disclosure.tsx'

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
            hint={t`The web address this payment unlocks.`}
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
              hint={t`The seller reads it.`}
              label={t`Description`}
              optional
            >
              <Input
                maxLength={200}
                {...register('description', {
                  maxLength: { value: 200, message: t`At most 200 characters.` },
                })}
              />
            </Field>
          )}
          {!set.reference && (
            <Field
              error={errors.reference?.message}
              hint={t`An order or invoice number.`}
              label={t`Reference`}
              optional
            >
              <Input
                maxLength={100}
                {...register('reference', {
                  maxLength: { value: 100, message: t`At most 100 characters.` },
                })}
              />
            </Field>
          )}
        </div>
      </div>
    </Disclosure>
  )
}
