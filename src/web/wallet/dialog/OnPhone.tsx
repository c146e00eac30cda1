import { Trans, useLingui } from '@lingui/react/macro'
import { inWallet } from '../../payment-uris/uris.ts'
import { buttonClass } from '../../ui/button-class.ts'
import { Icon } from '../../ui/Icon.tsx'
import { QrCode } from '../../ui/QrCode.tsx'

/** The same page where the person's wallet is: in the app of a wallet on this phone, or on a phone that scans the code. */
export function OnPhone() {
  const { t } = useLingui()
  const page = new URL(window.location.href)
  // Apps of wallets open only https; a phone cannot reach this machine's loopback at all.
  if (page.protocol !== 'https:') {
    return (
      <p className="text-sm text-muted">
        <Trans>Mobile wallets need HTTPS.</Trans>
      </p>
    )
  }
  if (window.matchMedia('(pointer: coarse)').matches) {
    return (
      <ul className="grid gap-2">
        {(['MetaMask', 'Phantom'] as const).map((wallet) => (
          <li key={wallet}>
            <a
              className={buttonClass({ wide: true })}
              href={inWallet[wallet](page)}
              rel="noopener noreferrer"
            >
              <Trans>Open this page in {wallet}</Trans>
              <Icon name="external" size={14} />
            </a>
          </li>
        ))}
      </ul>
    )
  }
  return (
    <div className="grid justify-items-center gap-2">
      <QrCode
        className="w-full max-w-52 border border-line"
        label={t`Code for ${page.host}`}
        value={page.href}
      />
      <p className="text-center text-sm text-muted">
        <Trans>Scan with a phone wallet.</Trans>
      </p>
    </div>
  )
}
