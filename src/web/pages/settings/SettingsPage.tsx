import { PageHeader } from '../../shell/PageHeader.tsx'
import { useConfig } from '../../shell/use-config.ts'
import { Card } from '../../ui/Card.tsx'
import { Diagnostics } from './Diagnostics.tsx'
import { Display } from './Display.tsx'
import { NodeSetting } from './NodeSetting.tsx'
import { SessionSettings } from './SessionSettings.tsx'

/** Everything here is kept in this browser, except the session. */
export function SettingsPage() {
  const { networks } = useConfig()
  return (
    <div className="mx-auto max-w-180">
      <PageHeader subtitle="Kept in this browser only. Changes take effect at once." title="Settings" />
      <div className="grid gap-4">
        <Display />
        <Card subtitle="This browser asks these nodes itself, to check what the service says and to send what your wallet signs." title="Nodes">
          <div className="space-y-8">
            {networks.map((network) => (
              <NodeSetting key={network.network} network={network} />
            ))}
          </div>
        </Card>
        <SessionSettings />
        <Diagnostics />
      </div>
    </div>
  )
}
