import { Trans } from '@lingui/react/macro'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { useConfig } from '../../api/use-config.ts'
import { Card } from '../../ui/Card.tsx'
import { AddressBook } from './AddressBook.tsx'
import { Diagnostics } from './Diagnostics.tsx'
import { Display } from './Display.tsx'
import { NodeSetting } from './NodeSetting.tsx'
import { SessionSettings } from './SessionSettings.tsx'
import { SpendingCaps } from './SpendingCaps.tsx'

/** Everything here is kept in this browser, except the sessions. */
export function SettingsPage() {
  const { networks } = useConfig()
  return (
    <div className="mx-auto max-w-180">
      <PageHeader
        subtitle={<Trans>Kept in this browser only. Changes take effect at once.</Trans>}
        title={<Trans>Settings</Trans>}
      />
      <div className="grid gap-4">
        <Display />
        <Card
          subtitle={
            <Trans>
              Computers of each network. This browser asks them itself, to check what the service
              says and to send what your wallet signs.
            </Trans>
          }
          title={<Trans>Nodes</Trans>}
        >
          <div className="space-y-8">
            {networks.map((network) => (
              <NodeSetting key={network.network} network={network} />
            ))}
          </div>
        </Card>
        <SpendingCaps />
        <AddressBook />
        <SessionSettings />
        <Diagnostics />
      </div>
    </div>
  )
}
