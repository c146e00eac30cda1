import type { CustomerProfile } from '#contract/customer-endpoints.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { useAddressBook } from '../local-data/address-book/store.ts'
import { Address } from '../ui/Address.tsx'
import { UntrustedText } from '../ui/UntrustedText.tsx'

export type CustomerNames = ReadonlyMap<string, Pick<CustomerProfile, 'name'>>

/** Who paid, or got money back: null where a payment has no customer. */
export function customerOf({
  type,
  sender,
  recipient,
  refundOf,
  draft,
}: Pick<PaymentRow, 'type' | 'sender' | 'recipient' | 'refundOf' | 'draft'>): string | null {
  if (draft) return null
  if (refundOf !== null) return type === 'sent' ? recipient : null
  return type === 'received' ? sender : null
}

/** What this browser's address book calls a customer where the account's people have no name for them. */
export function useCustomerName(
  wallet: string | null,
  name: string | undefined,
): string | undefined {
  const entry = useAddressBook().find(({ address }) => address === wallet)
  return name || entry?.name
}

/** As the account's people call them, or this browser's address book; otherwise the address. */
export function CustomerName({ wallet, name }: { wallet: string; name: string | undefined }) {
  const known = useCustomerName(wallet, name)
  if (!known) return <Address value={wallet} />
  return (
    <span title={wallet}>
      <UntrustedText text={known} />
    </span>
  )
}
