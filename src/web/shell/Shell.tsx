import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { createContext, use, useRef, type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { useLiveState } from '../api/events.ts'
import { configQuery } from '../api/queries.ts'
import { usePauseSeconds } from '../api/rate-limit-pause.ts'
import { setPreferences, usePreferences, type Preferences } from '../local-data/preferences.ts'
import { formatList } from '../locales/formats.ts'
import { Link } from '../router/Link.tsx'
import { pathTo } from '../router/paths.ts'
import { Badge } from '../ui/Badge.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Mark } from '../ui/Mark.tsx'
import { Menu } from '../ui/Menu.tsx'
import { Time } from '../ui/Time.tsx'
import { Toaster } from '../ui/Toast.tsx'
import { LiveRegion, announce } from '../ui/announce.tsx'
import { cx } from '../ui/button-class.ts'
import { Navigation } from './Navigation.tsx'
import { WalletButton } from './WalletButton.tsx'

const InDashboard = createContext(false)

/** Whether a page has the dashboard around it; where it has not, it brings its own frame. */
export function useInDashboard(): boolean {
  return use(InDashboard)
}

type ShellProps = {
  title: string
  /** Opens the search of pages and payments. */
  search: ReactNode
  children: ReactNode
}

/** The frame of every page: navigation at the side on a desktop, at the bottom on a phone. */
export function Shell({ title, search, children }: ShellProps) {
  const main = useRef<HTMLElement>(null)
  return (
    <>
      <button
        className="sr-only z-50 rounded-lg bg-accent px-4 py-2 text-sm font-medium text-on-accent focus-visible:not-sr-only focus-visible:fixed focus-visible:start-4 focus-visible:top-4"
        onClick={() => main.current?.focus()}
        type="button"
      >
        <Trans>Skip to content</Trans>
      </button>
      <div className="lg:grid lg:grid-cols-[232px_minmax(0,1fr)] print:block">
        <aside className="no-print sticky top-0 hidden h-dvh flex-col border-e border-line bg-sunken px-3 py-5 lg:flex">
          <Brand title={title} />
          <Navigation look="side" />
          <div className="mt-auto px-3">
            <LiveIndicator />
          </div>
        </aside>
        <div className="flex min-h-dvh min-w-0 flex-col">
          <header className="no-print sticky top-0 z-20 border-b border-line bg-canvas">
            <div className="mx-auto flex h-16 max-w-[1160px] items-center gap-1 px-4 sm:gap-2 sm:px-6 lg:px-10">
              <div className="min-w-0 lg:hidden">
                <Brand compact title={title} />
              </div>
              <NetworkBadge />
              <LiveIndicator compact />
              <div className="ms-auto flex items-center gap-1">
                {search}
                <ThemeMenu />
                <WalletButton />
              </div>
            </div>
            <HeaderNotices />
          </header>
          <main
            className="mx-auto w-full max-w-[1160px] flex-1 px-4 pt-6 pb-28 outline-none sm:px-6 lg:px-10 lg:pt-8 lg:pb-16"
            id="main"
            ref={main}
            tabIndex={-1}
          >
            <InDashboard value>{children}</InDashboard>
          </main>
        </div>
      </div>
      <Navigation look="bottom" />
      <LiveRegion />
      <Toaster />
    </>
  )
}

function Brand({ title, compact }: { title: string; compact?: boolean }) {
  return (
    <Link
      className="touch-target flex min-w-0 items-center gap-2.5 rounded-lg px-3 py-1 font-semibold max-lg:px-0"
      to={pathTo('overview', {})}
    >
      <Mark />
      <span className={compact ? 'truncate max-sm:sr-only' : 'truncate'}>{title}</span>
    </Link>
  )
}

/** What applies to the whole page for the moment: no connection, or a pause. */
export function HeaderNotices() {
  return (
    <>
      <OfflineBanner />
      <PauseBanner />
    </>
  )
}

/** While the device has no connection: what is shown is old, and nothing that moves money is queued. */
function OfflineBanner() {
  if (useOnline()) return null
  return (
    <HeaderNotice icon="offline">
      <Trans>You are offline. Figures may be old. Payments are not queued.</Trans>
    </HeaderNotice>
  )
}

/** Says in words when the money here is not real. */
function NetworkBadge() {
  const { data } = useQuery(configQuery)
  const { t } = useLingui()
  const tests = data?.networks.filter((network) => network.testnet) ?? []
  if (!data || tests.length === 0) return null
  const names = formatList(tests.map((network) => network.name))
  return (
    <Badge title={t`${names}: coins here have no value.`} tone="warn">
      {tests.length === data.networks.length ? t`Test network` : t`Some test networks`}
    </Badge>
  )
}

/** After a refusal for asking too often: why nothing moves, and when it goes on. The countdown is not read out. */
function PauseBanner() {
  const seconds = usePauseSeconds()
  if (seconds === 0) return null
  return (
    <HeaderNotice icon="hourglass">
      <span className="sr-only">
        <Trans>Rate limit reached. Resuming automatically.</Trans>
      </span>
      <span aria-hidden className="figures">
        <Trans>Rate limit reached. Resuming in {seconds} s.</Trans>
      </span>
    </HeaderNotice>
  )
}

const themes: readonly { theme: Preferences['theme']; label: MessageDescriptor; icon: IconName }[] =
  [
    { theme: 'light', label: msg`Light`, icon: 'sun' },
    { theme: 'dark', label: msg`Dark`, icon: 'moon' },
    { theme: 'system', label: msg`System`, icon: 'system' },
  ]

function ThemeMenu() {
  const { theme } = usePreferences()
  const { t } = useLingui()
  return (
    <Menu
      items={themes.map((each) => ({
        id: each.theme,
        label: t(each.label),
        icon: <Icon name={each.theme === theme ? 'check' : each.icon} />,
        checked: each.theme === theme,
        onSelect: () => setPreferences({ theme: each.theme }),
      }))}
      label={t`Theme`}
      trigger={
        <Icon name={themes.find((each) => each.theme === theme)?.icon ?? 'system'} size={20} />
      }
      triggerClassName="touch-target inline-flex size-10 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-ink"
    />
  )
}

/** Whether what is on screen follows by itself. Nothing while nobody is signed in. `compact`: where there is little room, and what the other one announces. */
function LiveIndicator({ compact }: { compact?: boolean }) {
  const state = useLiveState()
  const online = useOnline()
  const before = useRef(state.kind)

  useEffect(() => {
    if (compact) return
    if (state.kind === 'stale') announce(t`Live updates have stopped.`)
    if (state.kind === 'live' && before.current === 'stale') announce(t`Live updates are back.`)
    if (state.kind === 'live' || state.kind === 'stale') before.current = state.kind
  }, [state.kind, compact])

  // The banner says it, and a stream that has not noticed yet is not live.
  if (state.kind === 'off' || !online) return null
  const live = state.kind === 'live'
  return (
    <p
      className={cx(
        'flex min-w-2 items-center gap-2 text-xs text-muted',
        compact && 'leading-tight lg:hidden',
      )}
      data-live={state.kind}
    >
      <span
        className={cx(
          'forced-fill size-2 shrink-0 rounded-full',
          live ? 'bg-accent' : 'border-2 border-warn-edge',
        )}
      />
      {state.kind === 'stale' ? (
        <span>
          <Trans>
            No live updates since <Time at={state.since} />
          </Trans>
        </span>
      ) : (
        // A single word does not wrap: on a phone it would widen the page.
        <span className="truncate">
          {live && <Trans>Synced</Trans>}
          {state.kind === 'connecting' && <Trans>Connecting…</Trans>}
          {state.kind === 'reconnecting' && <Trans>Connecting…</Trans>}
        </span>
      )}
    </p>
  )
}

/** Whether the device has a connection. */
function useOnline(): boolean {
  return useSyncExternalStore(subscribe, () => navigator.onLine)
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

/** A notice across the top of the page that applies to everything below it. */
function HeaderNotice({ icon, children }: { icon: IconName; children: ReactNode }) {
  return (
    <div className="bg-warn-soft text-sm text-warn-ink forced-edge">
      <p
        className="mx-auto flex max-w-[1160px] items-start gap-2 px-4 py-2 sm:px-6 lg:px-10"
        role="status"
      >
        <Icon className="mt-0.5 shrink-0" name={icon} />
        <span>{children}</span>
      </p>
    </div>
  )
}
