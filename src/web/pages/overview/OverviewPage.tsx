import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, type ReactNode } from 'react'
import { useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { formatList } from '../../locales/formats.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { SessionEnded } from '../../session/SessionEnded.tsx'
import { PageHeading } from '../../shell/PageHeading.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignIn } from '../../shell/SignIn.tsx'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { buttonClass } from '../../ui/button-class.ts'

const promises: readonly { icon: IconName; title: MessageDescriptor }[] = [
  { icon: 'search', title: msg`Check before you sign` },
  { icon: 'shield', title: msg`You keep your keys` },
  { icon: 'checkDouble', title: msg`Verified on the chain` },
]

/** For someone who has not proved a wallet: what this is, and the two ways on. */
function Welcome() {
  const { t } = useLingui()
  const { networks } = useConfig()
  const assets = [
    ...new Set(networks.flatMap((network) => network.assets.map((asset) => asset.symbol))),
  ]
  const names = formatList(assets)
  return (
    <div className="mx-auto max-w-220 pt-4 sm:pt-10">
      <SessionEnded className="mb-8" />
      <PageHeading className="max-w-160 text-3xl font-semibold tracking-tight sm:text-4xl">
        <Trans>Wallet-to-wallet payments in {names}</Trans>
      </PageHeading>

      <div className="mt-10 grid gap-4 sm:grid-cols-2">
        <Way icon="pay" title={<Trans>Make a payment</Trans>}>
          <Link className={buttonClass({ variant: 'primary' })} to={pathTo('checkout', {})}>
            <Trans>Pay</Trans>
          </Link>
        </Way>
        <Way icon="payments" title={<Trans>See your payments</Trans>}>
          <SignIn look="secondary" />
        </Way>
      </div>

      <ul className="mt-14 grid gap-x-10 gap-y-8 border-t border-line pt-8 sm:grid-cols-3">
        {promises.map(({ icon, title }) => (
          <li key={icon}>
            <Icon className="text-accent" name={icon} size={20} />
            <h2 className="mt-3 text-sm font-semibold">{t(title)}</h2>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Way({ icon, title, children }: { icon: IconName; title: ReactNode; children: ReactNode }) {
  return (
    <section className="flex flex-col rounded-xl border border-line bg-surface p-6">
      <span className="inline-flex size-10 items-center justify-center rounded-lg bg-accent-soft text-accent-ink">
        <Icon name={icon} size={20} />
      </span>
      <h2 className="mt-4 mb-6 text-lg font-semibold">{title}</h2>
      <div className="mt-auto flex">{children}</div>
    </section>
  )
}

// A visitor who is not signed in never needs the figures and their charts.
const Figures = lazy(() => import('./Figures.tsx').then((module) => ({ default: module.Figures })))

/** Recent activity for signed-in readers; the next step for everyone else. */
export function OverviewPage() {
  const state = useSession()
  if (state.kind === 'loading') return <PageSkeleton />
  if (state.kind === 'failed') return <QueryError error={state.error} onRetry={state.retry} />
  if (!state.viewer) return <Welcome />
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Figures viewer={state.viewer} />
    </Suspense>
  )
}
