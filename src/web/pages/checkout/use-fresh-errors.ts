import { useEffect } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { CheckoutFields } from '../../payment-flow/form/fields.ts'

/** What is wrong with a field may be right for another account, currency or balance: then it is looked at again, and not before. */
export function useFreshErrors(
  { getFieldState, trigger }: UseFormReturn<CheckoutFields>,
  circumstances: string,
): void {
  useEffect(() => {
    const wrong = (['recipient', 'amount'] as const).filter((name) => getFieldState(name).invalid)
    if (wrong.length > 0) void trigger(wrong)
  }, [circumstances, getFieldState, trigger])
}
