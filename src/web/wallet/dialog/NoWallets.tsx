import { Trans } from '@lingui/react/macro'
import type { Family } from '#contract/address.ts'
import { buttonClass } from '../../ui/button-class.ts'
import { Icon } from '../../ui/Icon.tsx'

const SUGGESTED = [
  { name: 'MetaMask', href: 'https://metamask.io/download/', families: ['evm', 'solana'] },
  { name: 'Phantom', href: 'https://phantom.com/download', families: ['solana', 'evm'] },
  { name: 'Solflare', href: 'https://www.solflare.com/download/', families: ['solana'] },
] as const satisfies { name: string; href: string; families: readonly Family[] }[]

/** What to do in a browser without a wallet. */
export function NoWallets({ families }: { families: readonly Family[] }) {
  return (
    <div>
      <p className="text-sm text-muted">
        <Trans>
          A wallet is an app that keeps your money and asks you before it pays. None was found in
          this browser. Install one and reload this page, or open this page inside your wallet’s
          app.
        </Trans>
      </p>
      <ul className="mt-4 grid gap-2">
        {SUGGESTED.filter((wallet) =>
          wallet.families.some((family) => families.includes(family)),
        ).map(({ name, href }) => (
          <li key={name}>
            <a
              className={buttonClass({ wide: true })}
              href={href}
              rel="noopener noreferrer"
              target="_blank"
            >
              <Trans>Get {name}</Trans>
              <Icon name="external" size={14} />
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}
