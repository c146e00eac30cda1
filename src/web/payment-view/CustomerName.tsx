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

/** As the account's people call them, or this browser's address book; otherwise the address. */
export function CustomerName({ wallet, name }: { wallet: string; name: string | undefined }) {
  const entry = useAddressBook().find(({ address }) => address === wallet)
  const known = name || entry?.name
  if (!known) return <Address value={wallet} />
  return (
    <span title={wallet}>
      <UntrustedText text={known} />
    </span>
  )
}
