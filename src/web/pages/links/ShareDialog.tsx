import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { familyOf } from '#contract/network.ts'
import { inWallet } from '../../payment-uris/uris.ts'
import { useConfig } from '../../api/use-config.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Disclosure } from '../../ui/Disclosure.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Mark } from '../../ui/Mark.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { hrefOf } from '../../router/location.ts'
import { LinkAmount } from './LinkAmount.tsx'
import { termsOf, type AnyLink, pageOfLink } from './links-query.ts'

type Way = 'page' | 'MetaMask' | 'Phantom'

/** A link as a code to scan and a text to send: the page itself, or the page inside the app of a wallet. */
export function ShareDialog({ link, onClose }: { link: AnyLink; onClose: () => void }) {
  const { t } = useLingui()
  const { title } = useConfig()
  const terms = termsOf(link)
  const network = 'short' in link ? link.short.only?.network : link.terms.network
  const [way, setWay] = useState<Way>('page')
  const page = pageOfLink(link.link)
  const value = way === 'page' ? page.href : inWallet[way](page)
  // MetaMask and Phantom both know both chains; which one leads is the buyer's habit on that chain.
  const wallets: Way[] =
    network === undefined || familyOf(network) === 'evm'
      ? ['MetaMask', 'Phantom']
      : ['Phantom', 'MetaMask']
  const local = page.protocol !== 'https:'

  return (
    <Dialog onClose={onClose} open size="md" title={t`Share`}>
      <div className="space-y-4 print:text-center">
        <p className="hidden items-center justify-center gap-2.5 font-semibold print:flex">
          <Mark />
          {title}
        </p>
        <div className="text-center">
          <span className="text-lg font-semibold">
            <LinkAmount link={link} size="lg" />
          </span>
          {terms.description && (
            <p className="text-sm text-muted">
              <UntrustedText text={terms.description} />
            </p>
          )}
        </div>
        <Segmented
          className="no-print flex w-full"
          label={t`What the code opens`}
          onChange={setWay}
          options={[
            { value: 'page', label: t`Web page` },
            ...wallets.map((wallet) => ({ value: wallet, label: wallet })),
          ]}
          value={way}
        />
        <QrCode
          className="mx-auto w-full max-w-72 border border-line print:max-w-96"
          label={
            way === 'page'
              ? t`Code for ${{ name: page.host }}`
              : t`Code for ${{ name: page.host }} in ${way}`
          }
          value={value}
        />
        <p className="text-center text-sm text-muted print:hidden">
          {way === 'page' ? t`Opens in the browser.` : t`Opens in ${way}.`}
        </p>
        {way !== 'page' && local && (
          <Banner className="no-print" role="note" tone="warn">
            <Trans>Mobile wallets need HTTPS.</Trans>
          </Banner>
        )}
        <p className="rounded-lg bg-sunken px-3 py-2 font-mono text-xs break-all select-all">
          <span className="line-clamp-3 print:line-clamp-none">{value}</span>
        </p>
        <div className="no-print flex flex-wrap gap-2">
          <CopyButton label={t`Copy link`} text value={value} />
          <Button icon={<Icon name="print" size={14} />} onClick={() => window.print()} size="sm">
            <Trans>Print</Trans>
          </Button>
        </div>
        {terms.returnUrl !== null && (
          <Disclosure className="no-print" label={<Trans>Pay button</Trans>}>
            <pre
              aria-label={t`Pay button`}
              className="my-2 overflow-x-auto rounded-lg bg-sunken p-3 font-mono text-xs"
              role="region"
              tabIndex={0}
            >
              <code>{buttonOf(page)}</code>
            </pre>
            <CopyButton label={t`Copy`} text value={buttonOf(page)} />
          </Disclosure>
        )}
      </div>
    </Dialog>
  )
}

/** One line of HTML that sells through the link, on a page of the return URL's origin. */
function buttonOf(page: URL): string {
  const script = new URL(hrefOf('/button.js'), page.origin)
  return `<script async src="${script.href}" data-link="${page.href}"></script>`
}
