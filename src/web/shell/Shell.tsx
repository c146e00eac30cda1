import { Trans } from '@lingui/react/macro'
import { useRef, type ReactNode } from 'react'
import { pathTo } from '../router/paths.ts'
import { Link } from '../router/Link.tsx'
import { LiveRegion } from '../ui/announce.tsx'
import { Mark } from '../ui/Mark.tsx'
import { Toaster } from '../ui/Toast.tsx'
import { WalletButton } from './WalletButton.tsx'
import { LiveIndicator } from './LiveIndicator.tsx'
import { Navigation } from './Navigation.tsx'
import { NetworkBadge } from './NetworkBadge.tsx'
import { OfflineBanner } from './OfflineBanner.tsx'
import { PauseBanner } from './PauseBanner.tsx'
import { ThemeMenu } from './ThemeMenu.tsx'

/** The frame of every page: navigation at the side on a desktop, at the bottom on a phone. */
export function Shell({ title, children }: { title: string; children: ReactNode }) {
  const main = useRef<HTMLElement>(null)
  return (
    <>
      <button
        className="sr-only z-50 rounded-lg bg-accent px-4 py-2 text-sm font-medium text-on-accent focus-visible:not-sr-only focus-visible:fixed focus-visible:start-4 focus-visible:top-4"
        onClick={() => main.current?.focus()}
        type="button"
      >
        <Trans>Skip to the page</Trans>
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
            <div className="mx-auto flex h-16 max-w-[1160px] items-center gap-2 px-4 sm:px-6 lg:px-10">
              <div className="min-w-0 lg:hidden">
                <Brand compact title={title} />
              </div>
              <NetworkBadge />
              <LiveIndicator compact />
              <div className="ms-auto flex items-center gap-1">
                <ThemeMenu />
                <WalletButton />
              </div>
            </div>
            <OfflineBanner />
            <PauseBanner />
          </header>
          <main
            className="mx-auto w-full max-w-[1160px] flex-1 px-4 pt-6 pb-28 outline-none sm:px-6 lg:px-10 lg:pt-8 lg:pb-16"
            id="main"
            ref={main}
            tabIndex={-1}
          >
            {children}
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
