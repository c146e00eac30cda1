import type { ReactNode } from 'react'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import { SignIn } from '../../session/SignIn.tsx'
import { PageHeading } from '../../shell/PageHeading.tsx'
import { useConfig } from '../../shell/use-config.ts'
import { buttonClass } from '../../ui/button-class.ts'
import { Icon, type IconName } from '../../ui/Icon.tsx'

const promises: readonly { icon: IconName; title: string; body: string }[] = [
  {
    icon: 'search',
    title: 'Read before you sign',
    body: 'The transaction is taken apart in your browser and compared with what you asked for. If one field differs, it stops.',
  },
  { icon: 'shield', title: 'Keys stay with you', body: 'Your wallet signs. This desk never holds a key and never holds your money.' },
  { icon: 'checkDouble', title: 'Proven by the chain', body: 'A payment counts once the network says so, and your browser can check that itself.' },
]

/** For someone who has not proved a wallet: what this is, and the two ways on. */
export function Welcome() {
  const { networks } = useConfig()
  const assets = [...new Set(networks.flatMap((network) => network.assets.filter((asset) => asset.native).map((asset) => asset.symbol)))]
  return (
    <div className="mx-auto max-w-220 pt-4 sm:pt-10">
      <PageHeading className="max-w-160 text-3xl font-semibold tracking-tight sm:text-4xl">
        Pay and get paid in {assets.join(' and ')}, wallet to wallet.
      </PageHeading>
      <p className="mt-4 max-w-140 text-base text-muted">You see exactly what you sign. The seller sees it arrive.</p>

      <div className="mt-10 grid gap-4 sm:grid-cols-2">
        <Way icon="pay" title="Make a payment" body="Enter an amount and a recipient, review every field, confirm in your wallet.">
          <Link className={buttonClass({ variant: 'primary' })} to={pathTo('checkout', {})}>
            Pay someone
          </Link>
        </Way>
        <Way icon="payments" title="See your payments" body="Sign in with the wallet that pays or gets paid. It costs nothing and moves no money.">
          <SignIn look="secondary" />
        </Way>
      </div>

      <ul className="mt-14 grid gap-x-10 gap-y-8 border-t border-line pt-8 sm:grid-cols-3">
        {promises.map(({ icon, title, body }) => (
          <li key={title}>
            <Icon className="text-accent" name={icon} size={20} />
            <h2 className="mt-3 text-sm font-semibold">{title}</h2>
            <p className="mt-1 text-sm text-muted">{body}</p>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Way({ icon, title, body, children }: { icon: IconName; title: string; body: string; children: ReactNode }) {
  return (
    <section className="flex flex-col rounded-xl border border-line bg-surface p-6">
      <span className="inline-flex size-10 items-center justify-center rounded-lg bg-accent-soft text-accent-ink">
        <Icon name={icon} size={20} />
      </span>
      <h2 className="mt-4 text-lg font-semibold">{title}</h2>
      <p className="mt-1 mb-6 text-sm text-muted">{body}</p>
      <div className="mt-auto flex">{children}</div>
    </section>
  )
}
