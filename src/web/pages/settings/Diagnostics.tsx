import { useLiveState } from '../../api/events.ts'
import { proxyAddress } from '../../api/client.ts'
import { clockSkewMs } from '../../clock.ts'
import { useConfig } from '../../shell/use-config.ts'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'

/** What an operator asks for when something is wrong. Nothing in it identifies a wallet or a payment. */
export function Diagnostics() {
  const config = useConfig()
  const live = useLiveState()
  const skew = clockSkewMs()
  const facts: readonly [string, string][] = [
    ['Proxy', new URL(proxyAddress('/')).origin],
    ['Networks', config.networks.map(({ name, network }) => `${name} (${network})`).join(', ')],
    ['Live updates', live.kind],
    ['Clock', Math.abs(skew) < 1500 ? 'in step with the server' : `${(Math.abs(skew) / 1000).toFixed(1)} s ${skew > 0 ? 'behind' : 'ahead of'} the server`],
    ['Language', navigator.language],
    ['Browser', navigator.userAgent],
  ]
  return (
    <Card
      action={<CopyButton label="Copy" text value={facts.map(([name, value]) => `${name}: ${value}`).join('\n')} />}
      subtitle="For a report to the operator. Holds no wallet and no payment."
      title="Diagnostics"
    >
      <Facts>
        {facts.map(([name, value]) => (
          <Fact key={name} name={name} under={value.length > 40 ? 'always' : undefined}>
            {value}
          </Fact>
        ))}
      </Facts>
    </Card>
  )
}
