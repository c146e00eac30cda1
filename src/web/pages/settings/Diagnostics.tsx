import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useLiveState } from '../../api/events.ts'
import { proxyAddress } from '../../api/client.ts'
import { clockSkewMs } from '../../api/clock.ts'
import { i18n } from '../../locales/i18n.ts'
import { formatNumber, languageLocale, numberLocale } from '../../locales/formats.ts'
import { getPreferences } from '../../local-data/preferences.ts'
import { useConfig } from '../../api/use-config.ts'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'

/** What an operator asks for when something is wrong. Nothing in it identifies a wallet or a payment, and no node's address, which may hold a key. */
export function Diagnostics() {
  const config = useConfig()
  const live = useLiveState()
  const { theme, timeZone, rpcUrls } = getPreferences()
  const own = config.networks.filter(({ network }) => rpcUrls[network]).map(({ name }) => name)
  const facts: readonly [string, string][] = [
    [t`Page`, `${location.origin}${new URL(document.baseURI).pathname}`],
    [t`Proxy`, new URL(proxyAddress('/')).origin],
    [t`Networks`, config.networks.map(({ name, network }) => `${name} (${network})`).join(', ')],
    [t`Own nodes`, own.length > 0 ? own.join(', ') : t`none`],
    [t`Live updates`, live.kind],
    [t`Clock`, clockWords(clockSkewMs())],
    [t`Language`, `${i18n.locale}, ${languageLocale()}, ${numberLocale()}`],
    [
      t`Time zone`,
      timeZone === 'utc' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone,
    ],
    [t`Window`, `${innerWidth} × ${innerHeight}, ×${devicePixelRatio}, ${theme}`],
    [t`Browser`, navigator.userAgent],
  ]
  return (
    <Card
      action={
        <CopyButton
          label={t`Copy`}
          text
          value={facts.map(([name, value]) => `${name}: ${value}`).join('\n')}
        />
      }
      subtitle={
        <Trans>For a report to the operator. Holds no wallet, no payment and no secret.</Trans>
      }
      title={<Trans>Diagnostics</Trans>}
    >
      <Facts>
        {facts.map(([name, value]) => (
          <Fact key={name} name={name} long={value.length > 40}>
            <span translate="no">{value}</span>
          </Fact>
        ))}
      </Facts>
    </Card>
  )
}

function clockWords(skewMs: number): string {
  if (Math.abs(skewMs) < 1500) return t`in step with the server`
  const seconds = formatNumber(Math.abs(skewMs) / 1000, { maximumFractionDigits: 1 })
  return skewMs > 0 ? t`${seconds} s behind the server` : t`${seconds} s ahead of the server`
}
