import { t as words } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import type { UseFormRegisterReturn } from 'react-hook-form'
import { MOST_REASON } from '#contract/refund-request.ts'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'

/** Why a payment goes back, in the words of the merchant. */
export function ReasonField({
  error,
  register,
}: {
  error: string | undefined
  register: UseFormRegisterReturn<'description'>
}) {
  const { t } = useLingui()
  return (
    <Field error={error} hint={t`The customer reads it.`} label={t`Reason`} optional>
      <Input maxLength={MOST_REASON} {...register} />
    </Field>
  )
}

export function reasonRule() {
  return { maxLength: { value: MOST_REASON, message: words`At most ${MOST_REASON} characters.` } }
}
