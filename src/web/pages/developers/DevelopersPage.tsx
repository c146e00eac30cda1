import { Trans, useLingui } from '@lingui/react/macro'
import { useState, useEffect } from 'react'
import { paymentEndpoints } from '#contract/payment-endpoints.ts'
import type { Viewer } from '../../api/queries.ts'
import { remainingAt, useQuota } from '../../api/quota.ts'
import { usePauseSeconds } from '../../api/rate-limit-pause.ts'
import { useConfig } from '../../api/use-config.ts'
import { formatNumber } from '../../locales/formats.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { cx } from '../../ui/cx.ts'
import { KeysCard } from './KeysCard.tsx'
import { UsageCard } from './UsageCard.tsx'

/**
 * For developers who connect their own server: keys, their usage, what is left of the quota, and
 * how to start.
 */
export function DevelopersPage() {
  return (
    <>
      <PageHeader subtitle={<Trans>API keys and usage</Trans>} title={<Trans>Developers</Trans>} />
      <SignedIn
        invitation={<Trans>Sign in to manage API keys</Trans>}
        skeleton={<Skeleton className="h-76 rounded-xl" />}
      >
        {(viewer) => <Content viewer={viewer} />}
      </SignedIn>
    </>
  )
}

function Content({ viewer }: { viewer: Viewer }) {
  if (viewer.wallets !== 'all') {
    return (
      <div className="grid gap-4">
        <Card>
          <EmptyState icon="shield" title={<Trans>Only operators can manage API keys</Trans>}>
            <Trans>Sign in with an operator wallet.</Trans>
          </EmptyState>
        </Card>
        <SnippetsCard />
      </div>
    )
  }
  return (
    <div className="grid gap-4 xl:grid-cols-3">
      <div className="grid min-w-0 content-start gap-4 xl:col-span-2">
        <KeysCard />
        <UsageCard />
      </div>
      <div className="grid min-w-0 content-start gap-4">
        <QuotaCard />
        <SnippetsCard />
      </div>
    </div>
  )
}

/** The first call of a server, ready to copy. The key is a placeholder: this page never has one. */
function SnippetsCard() {
  const { t } = useLingui()
  const { serviceUrl } = useConfig()
  const [language, setLanguage] = useState<SnippetLanguage>('curl')
  const text = snippetOf(language, serviceUrl)
  return (
    <Card
      action={
        serviceUrl && (
          <a
            className="touch-target inline-flex items-center gap-1.5 text-sm text-accent-ink underline underline-offset-4"
            href={`${serviceUrl}/docs`}
            rel="noopener noreferrer"
            target="_blank"
          >
            <Trans>API reference</Trans> <Icon name="external" size={14} />
          </a>
        )
      }
      title={<Trans>First call</Trans>}
    >
      <Segmented
        label={t`Language`}
        onChange={setLanguage}
        options={[
          { value: 'curl', label: 'cURL' },
          { value: 'node', label: 'Node' },
        ]}
        value={language}
      />
      <pre
        className="mt-3 overflow-x-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs whitespace-pre"
        role="region"
        aria-label={t`Example`}
        tabIndex={0}
      >
        <code>{text}</code>
      </pre>
      <div className="mt-3 flex items-center justify-between gap-3">
        <CopyButton label={t`Copy`} text value={text} />
        {!serviceUrl && (
          <span className="text-xs text-muted">
            <Trans>Reference: /docs of the service</Trans>
          </span>
        )}
      </div>
    </Card>
  )
}

type SnippetLanguage = 'curl' | 'node'

/**
 * A call that reads the newest payments. URL and key come from the environment in which it runs.
 */
function snippetOf(language: SnippetLanguage, serviceUrl: string | null): string {
  const path = `${paymentEndpoints.paymentList.path}?limit=10`
  if (language === 'curl') {
    return [
      `export PAYDESK_URL=${serviceUrl ?? 'https://payments.example'}`,
      'export PAYDESK_API_KEY=pk_live_…',
      '',
      `curl "$PAYDESK_URL${path}" \\`,
      '  -H "Authorization: Bearer $PAYDESK_API_KEY"',
    ].join('\n')
  }
  return [
    `const url = process.env.PAYDESK_URL ?? '${serviceUrl ?? 'https://payments.example'}'`,
    'const key = process.env.PAYDESK_API_KEY',
    '',
    `const response = await fetch(\`\${url}${path}\`, {`,
    '  headers: { Authorization: `Bearer ${key}` },',
    '})',
    "if (response.status === 429) console.log('wait', response.headers.get('Retry-After'), 's')",
    'const { payments, total } = await response.json()',
  ].join('\n')
}

/** Below this share the gauge turns amber. */
const LOW = 0.2

/** What is left of the dashboard's own plan, from the latest response and as it refills. */
function QuotaCard() {
  const { t } = useLingui()
  const quota = useQuota()
  const pause = usePauseSeconds()
  const now = useSeconds()
  const left = quota && remainingAt(quota, now)
  const share = quota && left !== undefined ? left / quota.limit : 0
  const [shown, limit] = [formatNumber(left ?? 0), formatNumber(quota?.limit ?? 0)]
  const refill = formatNumber(Math.max(1, Math.round((quota?.limit ?? 0) / 60)))
  return (
    <Card subtitle={<Trans>Shared by all users.</Trans>} title={<Trans>API quota</Trans>}>
      {pause > 0 && (
        // The banner at the top announces the pause once; this one counts down, and is not read out
        // every second.
        <Banner
          className="mb-4"
          icon="hourglass"
          title={<Trans>Requests paused</Trans>}
          tone="warn"
        >
          <Trans>
            Paused for <span className="figures">{pause}</span> s.
          </Trans>
        </Banner>
      )}
      {quota && left !== undefined ? (
        <>
          <p className="flex items-baseline gap-2">
            <span className="figures text-2xl font-semibold tracking-tight">{shown}</span>
            <span className="text-sm text-muted">
              <Trans>of {limit} requests left this minute</Trans>
            </span>
          </p>
          <div
            aria-label={t`Requests left`}
            aria-valuemax={quota.limit}
            aria-valuemin={0}
            aria-valuenow={left}
            aria-valuetext={t`${shown} of ${limit}`}
            className="forced-edge mt-3 h-2 overflow-hidden rounded-full bg-neutral-soft"
            role="meter"
          >
            <div
              className={cx(
                'forced-fill h-full rounded-full transition-[width]',
                share < LOW ? 'bg-warn-edge' : 'bg-accent',
              )}
              style={{ width: `${Math.max(share * 100, left > 0 ? 1 : 0)}%` }}
            />
          </div>
          <p className="mt-3 text-xs text-muted">
            {share < LOW ? (
              <Trans>Nearly used up. Payments go first. Refills {refill} per second.</Trans>
            ) : (
              <Trans>Refills {refill} per second</Trans>
            )}
          </p>
        </>
      ) : (
        <p className="text-sm text-muted">
          <Trans>Not known yet.</Trans>
        </p>
      )}
    </Card>
  )
}

function useSeconds(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}
