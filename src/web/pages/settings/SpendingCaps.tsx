import { Trans, useLingui } from '@lingui/react/macro'
import { useConfig } from '../../api/use-config.ts'
import { capKey, setCap, useCaps } from '../../local-data/caps.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { toast } from '../../ui/Toast.tsx'
import { CapField } from './CapField.tsx'

/** What this browser may spend of each asset. A payment above it stops at the review. */
export function SpendingCaps() {
  const { t } = useLingui()
  const { networks } = useConfig()
  const caps = useCaps()
  const assets = networks.flatMap((network) =>
    network.assets.map((asset) => ({
      network,
      asset,
      key: capKey(network.network, asset.address),
    })),
  )
  return (
    <Card
      subtitle={
        <Trans>
          Payments above a limit stop at the review. What is under way or whose end is unknown
          counts as spent.
        </Trans>
      }
      title={<Trans>Spending limits</Trans>}
    >
      <div className="divide-y divide-line">
        {assets.map(({ network, asset, key }) => (
          <fieldset className="py-4 first:pt-0 last:pb-0" key={key}>
            <legend className="sr-only">
              <Trans>
                Limits for {asset.symbol} on {network.name}
              </Trans>
            </legend>
            <div className="mb-3 flex min-h-8 items-center justify-between gap-3">
              <p aria-hidden className="text-sm font-medium">
                {asset.symbol} <span className="font-normal text-muted">{network.name}</span>
              </p>
              {caps[key] && (
                <Button
                  onClick={() => {
                    const undo = setCap(key, {})
                    const { symbol } = asset
                    toast(t`No limit for ${symbol} any more.`, { undo })
                  }}
                  size="sm"
                  variant="quiet"
                >
                  <Trans>Lift</Trans>
                </Button>
              )}
            </div>
            <div className="grid grid-cols-2 gap-x-3 gap-y-4 sm:gap-x-4">
              <CapField
                asset={asset}
                capKey={key}
                label={<Trans>Per payment</Trans>}
                of="perPayment"
              />
              <CapField asset={asset} capKey={key} label={<Trans>In 24 hours</Trans>} of="perDay" />
            </div>
          </fieldset>
        ))}
      </div>
    </Card>
  )
}
