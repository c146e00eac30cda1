import { t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type ReactNode } from 'react'
import type { Asset } from '#contract/network.ts'
import { proxyAddress } from '../../api/client.ts'
import { clockSkewMs } from '../../api/clock.ts'
import { useLiveState } from '../../api/events.ts'
import { useConfig } from '../../api/use-config.ts'
import { capKey, setCap, useCaps } from '../../local-data/caps.ts'
import { isLanguage, LANGUAGES, pickLanguage } from '../../local-data/languages.ts'
import { joinMessage } from '../../errors/row.ts'
import { setPreferences, usePreferences, getPreferences } from '../../local-data/preferences.ts'
import { formatNumber, languageLocale, numberLocale } from '../../locales/formats.ts'
import { i18n } from '../../locales/i18n.ts'
import { chooseLanguage } from '../../locales/language.ts'
import { NodeSetting } from '../../rpc/NodeSetting.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { toast } from '../../ui/Toast.tsx'
import { AddressBook } from './AddressBook.tsx'
import { readCap, writeCap } from './cap-text.ts'
import { FigureSettings, SettingRow } from './FigureSettings.tsx'
import { MailCard } from './MailCard.tsx'
import { SessionSettings } from './SessionSettings.tsx'

/** Everything here is kept in this browser, except the sessions and e-mails. */
export function SettingsPage() {
  const { networks } = useConfig()
  return (
    <div className="mx-auto max-w-180">
      <PageHeader
        subtitle={<Trans>Stored in this browser, except emails and sessions.</Trans>}
        title={<Trans>Settings</Trans>}
      />
      <div className="grid gap-4">
        <Display />
        <Card title={<Trans>RPC endpoints</Trans>}>
          <div className="space-y-8">
            {networks.map((network) => (
              <NodeSetting key={network.network} network={network} />
            ))}
          </div>
        </Card>
        <SpendingCaps />
        <AddressBook />
        <MailCard />
        <SessionSettings />
        <Diagnostics />
      </div>
    </div>
  )
}

function Display() {
  const { t } = useLingui()
  const { theme, timeZone, hideAmounts } = usePreferences()
  return (
    <Card title={<Trans>Display</Trans>}>
      <div className="divide-y divide-line">
        <SettingRow name={<Trans>Theme</Trans>}>
          <Segmented
            label={t`Theme`}
            onChange={(value) => setPreferences({ theme: value })}
            options={[
              { value: 'system', label: t`System` },
              { value: 'light', label: t`Light` },
              { value: 'dark', label: t`Dark` },
            ]}
            value={theme}
          />
        </SettingRow>
        <LanguageSetting />
        <FigureSettings />
        <SettingRow
          name={<Trans>Time zone</Trans>}
          note={
            timeZone === 'local' ? new Intl.DateTimeFormat().resolvedOptions().timeZone : undefined
          }
        >
          <Segmented
            label={t`Time zone`}
            onChange={(value) => setPreferences({ timeZone: value })}
            options={[
              { value: 'local', label: t`Local` },
              { value: 'utc', label: 'UTC' },
            ]}
            value={timeZone}
          />
        </SettingRow>
        <div className="pt-4">
          <Checkbox
            checked={hideAmounts}
            hint={<Trans>Payment pages still show amounts.</Trans>}
            label={<Trans>Hide amounts</Trans>}
            onChange={(event) => setPreferences({ hideAmounts: event.target.checked })}
          />
        </div>
      </div>
    </Card>
  )
}

/**
 * Each language under its own name, so that readers who cannot read the current one find theirs.
 */
function LanguageSetting() {
  const { t } = useLingui()
  const { language } = usePreferences()
  const [changing, setChanging] = useState(false)
  const own = pickLanguage(navigator.languages)

  async function choose(value: string) {
    setChanging(true)
    try {
      await chooseLanguage(isLanguage(value) ? value : 'auto')
    } catch {
      toast(joinMessage({ title: t`Language not loaded`, body: t`Check your connection.` }), {
        tone: 'warn',
      })
    } finally {
      setChanging(false)
    }
  }

  return (
    <SettingRow name={<Trans>Language</Trans>}>
      <Select
        aria-busy={changing}
        aria-label={t`Language`}
        className="w-56"
        onChange={(event) => void choose(event.target.value)}
        value={language}
      >
        <option value="auto">{t`Automatic (${LANGUAGES[own]})`}</option>
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <option key={tag} lang={tag} value={tag}>
            {name}
          </option>
        ))}
      </Select>
    </SettingRow>
  )
}

/** What an operator asks for when something is wrong. Nothing in it identifies a wallet or a payment, and no node's address, which may hold a key. */
function Diagnostics() {
  const config = useConfig()
  const live = useLiveState()
  const { theme, timeZone, rpcUrls } = getPreferences()
  const own = config.networks.filter(({ network }) => rpcUrls[network]).map(({ name }) => name)
  const facts: readonly [string, string][] = [
    [t`Page`, `${location.origin}${new URL(document.baseURI).pathname}`],
    [t`Proxy`, new URL(proxyAddress('/')).origin],
    [t`Networks`, config.networks.map(({ name, network }) => `${name} (${network})`).join(', ')],
    [t`RPC endpoints`, own.length > 0 ? own.join(', ') : t`none`],
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
      subtitle={<Trans>Contains no wallets, payments or secrets.</Trans>}
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
  if (Math.abs(skewMs) < 1500) return t`in sync`
  const seconds = formatNumber(Math.abs(skewMs) / 1000, { maximumFractionDigits: 1 })
  return skewMs > 0 ? t`${seconds} s behind` : t`${seconds} s ahead`
}

/** What this browser may spend of each asset. A payment above it stops at the review. */
function SpendingCaps() {
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
    <Card title={<Trans>Spending limits</Trans>}>
      <div className="divide-y divide-line">
        {assets.map(({ network, asset, key }) => (
          <fieldset className="py-4 first:pt-0 last:pb-0" key={key}>
            <legend className="sr-only">
              <Trans>
                {{ symbol: asset.symbol }} on {{ name: network.name }}
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
                    toast(t`No limit for ${symbol}.`, { undo })
                  }}
                  size="sm"
                  variant="quiet"
                >
                  <Trans>Remove limit</Trans>
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

export type CapFieldProps = {
  asset: Asset
  capKey: string
  of: 'perPayment' | 'perDay'
  label: ReactNode
}

/** One limit, kept when the field is left; nothing in it, no limit. What cannot be read is not kept and says so. */
export function CapField({ asset, capKey, of, label }: CapFieldProps) {
  const { t } = useLingui()
  const cap = useCaps()[capKey]
  const saved = cap?.[of]
  const shown = writeCap(saved, asset)
  /** What is being typed; nothing while the field shows what is kept. */
  const [typed, setTyped] = useState<string>()
  const [problem, setProblem] = useState<string>()

  function keep() {
    if (typed === undefined) return
    const result = readCap(typed, asset)
    setProblem(
      result.ok
        ? undefined
        : result.problem === 'ambiguous'
          ? t`Omit thousands separators.`
          : t`Enter an amount.`,
    )
    if (!result.ok) return
    setCap(capKey, { ...cap, [of]: result.atomic })
    setTyped(undefined)
  }

  return (
    <Field error={problem} label={label}>
      <Input
        inputMode="decimal"
        onBlur={keep}
        onChange={(event) => {
          setTyped(event.target.value)
          setProblem(undefined)
        }}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
        placeholder={t`No limit`}
        suffix={<span className="text-sm">{asset.symbol}</span>}
        value={typed ?? shown}
      />
    </Field>
  )
}
