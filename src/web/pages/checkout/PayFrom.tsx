import { useLingui } from '@lingui/react/macro'
import { Segmented } from '../../ui/Segmented.tsx'

export type PayingWallet = 'own' | 'managed'

/** For people who may pay from a wallet that the service manages. */
export function PayFrom({
  value,
  onChange,
}: {
  value: PayingWallet
  onChange: (wallet: PayingWallet) => void
}) {
  const { t } = useLingui()
  return (
    <Segmented
      label={t`Pay from`}
      onChange={onChange}
      options={[
        { value: 'own', label: t`My wallet` },
        { value: 'managed', label: t`Managed wallet` },
      ]}
      value={value}
    />
  )
}
