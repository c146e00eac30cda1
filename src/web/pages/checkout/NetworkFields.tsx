import { useLingui } from '@lingui/react/macro'
import type { UseFormRegister } from 'react-hook-form'
import type { Network } from '#contract/network.ts'
import { Field } from '../../ui/Field.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import { Select } from '../../ui/Select.tsx'
import type { CheckoutFields } from '../../payment-flow/form/fields.ts'

export type NetworkFieldsProps = {
  networks: readonly Network[]
  network: Network
  /** The payer's balance of an asset, once it is known. */
  held: (asset: string) => bigint | undefined
  register: UseFormRegister<CheckoutFields>
  onNetwork: () => void
}

/** The currency and the network. Shown only if there is a choice. */
export function NetworkFields({
  networks,
  network,
  held,
  register,
  onNetwork,
}: NetworkFieldsProps) {
  const { t } = useLingui()
  if (networks.length < 2 && network.assets.length < 2) return null
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <Field label={t`Currency`}>
        {/* The options are those of the network: another network starts a new choice. */}
        <Select key={network.network} {...register('asset')}>
          {network.assets.map((each) => {
            const atomic = held(each.address)
            return (
              <option key={each.address} value={each.address}>
                {atomic === undefined
                  ? each.symbol
                  : `${each.symbol} · ${formatAmountText(atomic, each.decimals).text}`}
              </option>
            )
          })}
        </Select>
      </Field>
      {networks.length > 1 && (
        <Field label={t`Network`}>
          <Select {...register('network', { onChange: onNetwork })}>
            {networks.map((each) => (
              <option key={each.network} value={each.network}>
                {each.name}
              </option>
            ))}
          </Select>
        </Field>
      )}
    </div>
  )
}
