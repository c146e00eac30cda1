import { t as words } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { MOST_REASON } from '#contract/refund-request.ts'
import { Field } from '../../ui/Field.tsx'
import { Input, type InputProps } from '../../ui/Input.tsx'

/** Why a payment goes back, in the words of the merchant. */
export function ReasonField({ error, ...input }: { error?: string | undefined } & InputProps) {
  const { t } = useLingui()
  return (
    <Field error={error} hint={t`The customer reads it.`} label={t`Reason`} optional>
      <Input maxLength={MOST_REASON} {...input} />
    </Field>
  )
}

export function reasonRule() {
  return {
    maxLength: {
      value: MOST_REASON,
      message: words`At most ${{ count: MOST_REASON }} characters.`,
    },
  }
}
