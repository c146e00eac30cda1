import { useEffect, useState } from 'react'
import { findLookAlike } from '../../local-data/address-book/look-alike.ts'
import { useAddressBook } from '../../local-data/address-book/store.ts'
import { useConfig } from '../../api/use-config.ts'
import { recentRecipients } from './runs.ts'

/** An address that the payer knows and that this one could be taken for: from the book, of the seller, or paid from here before. */
export function useLookAlike(
  address: string | undefined,
  network: string,
): { name?: string; address: string } | undefined {
  const book = useAddressBook()
  const { sellerWallets } = useConfig()
  const [paid, setPaid] = useState<readonly string[]>([])
  useEffect(() => {
    recentRecipients(network).then(setPaid, () => setPaid([]))
  }, [network])
  if (address === undefined) return undefined
  const known: { name?: string; address: string }[] = [
    ...book,
    ...[...sellerWallets, ...paid].map((each) => ({ address: each })),
  ]
  return findLookAlike(address, known)
}
