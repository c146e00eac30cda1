import type { UseFormRegisterReturn } from 'react-hook-form'
import { parseAddress, shortAddress } from '#contract/address.ts'
import type { Network } from '#contract/network.ts'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { readRecipient } from './fields.ts'
import { sellersOn } from './start-values.ts'

export type RecipientFieldProps = {
  network: Network
  sellerWallets: readonly string[]
  value: string
  error: string | undefined
  register: UseFormRegisterReturn<'recipient'>
  onSuggest: (address: string) => void
}

/** Whom to pay. The seller's own wallets are one tap away; anything pasted is read and told back. */
export function RecipientField({ network, sellerWallets, value, error, register, onSuggest }: RecipientFieldProps) {
  const sellers = sellersOn(network, sellerWallets)
  const parsed = parseAddress(readRecipient(value))
  const known = parsed.ok && sellers.includes(parsed.address)
  const others = sellers.filter((seller) => !parsed.ok || seller !== parsed.address)
  return (
    <div>
      <Field
        error={error}
        hint={
          known ? (
            <span className="inline-flex items-center gap-1.5">
              <Icon name="check" size={14} /> The seller’s own wallet.
            </span>
          ) : undefined
        }
        label="To"
      >
        <Input mono placeholder={network.network.startsWith('eip155:') ? '0x…' : 'Address'} {...register} />
      </Field>
      {others.length > 0 && (
        <div className="mt-2 flex flex-wrap gap-2">
          {others.map((seller) => (
            <button
              className="touch-target inline-flex min-h-8 items-center gap-1.5 rounded-full border border-line bg-surface px-3 text-sm hover:bg-hover"
              key={seller}
              onClick={() => onSuggest(seller)}
              type="button"
            >
              The seller <span className="font-mono text-[13px] text-muted">{shortAddress(seller)}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
