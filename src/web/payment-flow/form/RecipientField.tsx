import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import type { UseFormRegisterReturn } from 'react-hook-form'
import { parseAddress, shortAddress } from '#contract/address.ts'
import type { Network } from '#contract/network.ts'
import { useConfig } from '../../api/use-config.ts'
import { isForNetwork } from '../../local-data/address-book/entry.ts'
import { findLookAlike } from '../../local-data/address-book/look-alike.ts'
import { useAddressBook } from '../../local-data/address-book/store.ts'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { WrappedInput } from '../../ui/WrappedInput.tsx'
import { paysOnly, payYourself, cleanRecipient } from './fields.ts'
import { sellersOn } from './start-values.ts'

export type RecipientFieldProps = {
  network: Network
  sellerWallets: readonly string[]
  /** The account that pays: it is not offered as its own payee. */
  own: string | undefined
  value: string
  error: string | undefined
  register: UseFormRegisterReturn<'recipient'>
  onSuggest: (address: string) => void
  /** The payer may pay the seller alone: their wallet is shown, and is not to be edited. */
  sellerOnly: boolean
}

/** So many names stand under the field; the rest of the book is found by typing into it. */
const SHOWN = 6

/** Whom to pay. The seller's own wallets and the payer's address book are one tap away; anything pasted is read and told back. */
export function RecipientField({
  network,
  sellerWallets,
  own,
  value,
  error,
  register,
  onSuggest,
  sellerOnly,
}: RecipientFieldProps) {
  const { t } = useLingui()
  const { title } = useConfig()
  const sellers = sellersOn(network, sellerWallets).filter((seller) => seller !== own)
  const book = useAddressBook().filter(
    (entry) => isForNetwork(entry, network.network) && entry.address !== own,
  )
  const parsed = parseAddress(cleanRecipient(value))
  const address = parsed.ok ? parsed.address : undefined
  const lookAlike = useLookAlike(address, network.network)
  const name = book.find((entry) => entry.address === address)?.name
  const typed = value.trim().toLowerCase()
  const suggestions = [
    ...sellers.map((seller) => ({ address: seller, name: t`The merchant` })),
    ...(sellerOnly ? [] : book)
      .filter((entry) => !sellers.includes(entry.address))
      .filter((entry) => parsed.ok || typed === '' || entry.name.toLowerCase().includes(typed)),
  ].filter((each) => each.address !== address)

  return (
    <div>
      <Field
        error={
          error ??
          (address !== undefined && address === own
            ? payYourself()
            : sellerOnly && address !== undefined && !sellerWallets.includes(address)
              ? paysOnly(title)
              : undefined)
        }
        hint={
          name !== undefined ? (
            <Known>
              <Trans>Saved as {name}</Trans>
            </Known>
          ) : (
            address !== undefined &&
            sellers.includes(address) && (
              <Known>
                <Trans>Verified merchant wallet</Trans>
              </Known>
            )
          )
        }
        label={t`To`}
      >
        <WrappedInput
          readOnly={sellerOnly && address !== undefined && sellers.includes(address)}
          placeholder={network.network.startsWith('eip155:') ? '0x…' : t`Address or saved name`}
          {...register}
        />
      </Field>
      {lookAlike && (
        <Banner className="mt-3" role="alert" title={t`Similar to a known address`} tone="bad">
          <Trans>
            This resembles <LookAlikeName known={lookAlike} />. Compare every character:
          </Trans>
          <dl className="mt-2 space-y-1">
            <div>
              <dt className="text-xs">
                <Trans>You know</Trans>
              </dt>
              <dd>
                <Address full value={lookAlike.address} />
              </dd>
            </div>
            <div>
              <dt className="text-xs">
                <Trans>You would pay</Trans>
              </dt>
              <dd>
                <Address full value={address ?? ''} />
              </dd>
            </div>
          </dl>
        </Banner>
      )}
      {suggestions.length > 0 && (
        <ul aria-label={t`Addresses you know`} className="mt-2 flex flex-wrap gap-2">
          {suggestions.slice(0, SHOWN).map((each) => (
            <li key={each.address}>
              <button
                className="touch-target inline-flex min-h-8 items-center gap-1.5 rounded-full border border-line bg-surface px-3 text-sm hover:bg-hover"
                onClick={() => onSuggest(each.address)}
                type="button"
              >
                {each.name}{' '}
                <span className="font-mono text-[13px] text-muted">
                  {shortAddress(each.address)}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function LookAlikeName({ known }: { known: { name?: string; address: string } }) {
  return <span className="font-medium">{known.name ?? shortAddress(known.address)}</span>
}

function Known({ children }: { children: React.ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <Icon name="check" size={14} /> {children}
    </span>
  )
}

/** An address that the payer knows and that this one could be taken for: from the book, of the seller, or paid from here before. */
function useLookAlike(
  address: string | undefined,
  network: string,
): { name?: string; address: string } | undefined {
  const book = useAddressBook()
  const { sellerWallets } = useConfig()
  const [paid, setPaid] = useState<readonly string[]>([])
  useEffect(() => {
    import('./runs.ts')
      .then(({ recentRecipients }) => recentRecipients(network))
      .then(setPaid, () => setPaid([]))
  }, [network])
  if (address === undefined) return undefined
  const known: { name?: string; address: string }[] = [
    ...book,
    ...[...sellerWallets, ...paid].map((each) => ({ address: each })),
  ]
  return findLookAlike(address, known)
}
