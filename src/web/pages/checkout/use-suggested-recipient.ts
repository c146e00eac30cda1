import { useLayoutEffect } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { useConfig } from '../../api/use-config.ts'
import type { CheckoutFields } from '../../payment-flow/form/fields.ts'
import { recipientOn } from '../../payment-flow/form/start-values.ts'

/**
 * Follows the connected account: the seller's wallet is suggested to every payer except its owner.
 * A recipient named in the URL stays.
 */
export function useSuggestedRecipient(
  { getValues, setValue }: UseFormReturn<CheckoutFields>,
  own: string | undefined,
  named: boolean,
): void {
  const { networks, sellerWallets } = useConfig()
  useLayoutEffect(() => {
    if (!named) setValue('recipient', recipientOn(networks, getValues(), { sellerWallets, own }))
  }, [own, named, networks, sellerWallets, getValues, setValue])
}
