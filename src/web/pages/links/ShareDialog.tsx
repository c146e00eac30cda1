import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { familyOf } from '#contract/network.ts'
import { inWallet } from '../../payment-uris/uris.ts'
import { termsOf, type AnyLink } from '../../api/links.ts'
import { useConfig } from '../../api/use-config.ts'
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
import { pageOfLink } from './link-page.ts'

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
  const ways: Way[] =
    network === undefined || familyOf(network) === 'evm'
      ? ['page', 'MetaMask', 'Phantom']
      : ['page', 'Phantom', 'MetaMask']
  // The app of a wallet opens no page without it.
  const secure = page.protocol === 'https:'

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
        {secure && (
          <Segmented
            className="no-print flex w-full"
            label={t`What the code opens`}
            onChange={setWay}
            options={ways.map((each) => ({
              value: each,
              label: each === 'page' ? t`Web page` : each,
            }))}
            value={way}
          />
        )}
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
        <p className="rounded-lg bg-sunken px-3 py-2 font-mono text-xs break-all select-all">
          <span className="line-clamp-3 print:line-clamp-none">{value}</span>
        </p>
        <div className="no-print flex flex-wrap gap-2">
          {'share' in navigator && (
            <Button
              icon={<Icon name="external" size={14} />}
              onClick={() => void share({ title: terms.description ?? title, url: value })}
              size="sm"
              variant="primary"
            >
              <Trans>Share</Trans>
            </Button>
          )}
          <CopyButton label={t`Copy link`} primary text value={value} />
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

/** By an app of the device. It also fails where the reader closes the list of apps, and the link is still there to copy. */
async function share(data: ShareData): Promise<void> {
  await navigator.share(data).catch(() => undefined)
}

/** One line of HTML that sells through the link, on a page of the return URL's origin. */
function buttonOf(page: URL): string {
  const script = new URL(hrefOf('/button.js'), page.origin)
  return `<script async src="${script.href}" data-link="${page.href}"></script>`
}
