import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { shortAddress } from '#contract/known-address.ts'
import type { LinkState } from '#contract/payment-link.ts'
import { describeError } from '../../errors/codes.ts'
import { callProxy } from '../../api/client.ts'
import { cacheLink, termsOf, type AnyLink } from '../../api/links.ts'
import { useNetwork } from '../../api/use-config.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Badge, type Tone } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { LinkAmount } from './LinkAmount.tsx'
import { pageOfLink } from './link-page.ts'

type ShownState = LinkState | 'refunded' | 'partly_refunded'

const STATES: Readonly<
  Record<ShownState, { label: MessageDescriptor; tone: Tone; icon: IconName }>
> = {
  open: { label: msg`Open`, tone: 'good', icon: 'check' },
  used: { label: msg`Paid`, tone: 'info', icon: 'checkDouble' },
  expired: { label: msg`Expired`, tone: 'neutral', icon: 'clock' },
  refunded: {
    label: msg({ message: 'Refunded', context: 'payment link' }),
    tone: 'neutral',
    icon: 'back',
  },
  partly_refunded: {
    label: msg({ message: 'Partly refunded', context: 'payment link' }),
    tone: 'neutral',
    icon: 'back',
  },
  withdrawn: { label: msg`Deactivated`, tone: 'neutral', icon: 'back' },
}

/** A link that has all its payments is paid, until they are refunded. */
function shownState(link: AnyLink): ShownState {
  const { state, refunded } = link
  if (state !== 'used' || !refunded || refunded.full + refunded.partial === 0) return state
  return refunded.full === termsOf(link).maxPayments ? 'refunded' : 'partly_refunded'
}

export function LinkList({
  links,
  onShare,
}: {
  links: readonly AnyLink[]
  onShare: (link: AnyLink) => void
}) {
  const { t } = useLingui()
  return (
    <ul
      aria-label={t`Payment links`}
      className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
    >
      {links.map((link) => (
        <LinkRow key={termsOf(link).id} link={link} onShare={onShare} />
      ))}
    </ul>
  )
}

function LinkRow({ link, onShare }: { link: AnyLink; onShare: (link: AnyLink) => void }) {
  const { paid, pending, surplus, refunded } = link
  const returned = refunded ? refunded.full + refunded.partial : 0
  const terms = termsOf(link)
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-3 px-5 py-4">
      <LinkWords link={link} />
      <p className="figures text-sm sm:w-36">
        <PaidCount paid={paid} terms={terms} />
        {pending > 0 && (
          <span className="block text-muted">
            <Plural one="# under way" other="# under way" value={pending} />
          </span>
        )}
        {returned > 0 && paid > 1 && (
          <span className="block text-muted">
            <Plural one="# refunded" other="# refunded" value={returned} />
          </span>
        )}
        {surplus.map((paymentId) => (
          <Link
            className="block text-warn underline"
            key={paymentId}
            to={pathTo('payment', { params: { paymentId } })}
          >
            <Trans>Paid twice. Refund the surplus payment.</Trans>
          </Link>
        ))}
      </p>
      <LinkActions link={link} onShare={onShare} />
    </li>
  )
}

/** Leads to the payments: the proxy writes the id of the link into each, and the search finds it there. */
function PaidCount({ paid, terms }: { paid: number; terms: ReturnType<typeof termsOf> }) {
  const count =
    terms.maxPayments === null ? (
      <Plural one="# payment" other="# payments" value={paid} />
    ) : (
      <Plural
        one={`${paid} of # payment`}
        other={`${paid} of # payments`}
        value={terms.maxPayments}
      />
    )
  if (paid === 0) return <span className="font-medium">{count}</span>
  return (
    <Link
      className="font-medium underline decoration-edge underline-offset-4"
      to={pathTo('payments', { search: { q: terms.id } })}
    >
      {count}
    </Link>
  )
}

function LinkWords({ link }: { link: AnyLink }) {
  const { t } = useLingui()
  const terms = termsOf(link)
  const only = 'short' in link ? link.short.only : link.terms
  const network = useNetwork(only?.network ?? '')
  const { label, tone, icon } = STATES[shownState(link)]
  return (
    <div className="min-w-52 flex-1">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">
          <LinkAmount link={link} size="md" />
        </span>
        <Badge icon={<Icon name={icon} size={14} />} tone={tone}>
          {t(label)}
        </Badge>
      </p>
      <p className="mt-1 text-sm text-muted">
        {terms.description && (
          <>
            <UntrustedText className="text-ink" text={terms.description} /> ·{' '}
          </>
        )}
        {terms.reference && (
          <>
            <UntrustedText className="whitespace-nowrap" text={terms.reference} /> ·{' '}
          </>
        )}
        {only ? (
          <>
            {network?.name ?? only.network} ·{' '}
            <span className="font-mono text-[13px]">{shortAddress(only.recipient)}</span>
          </>
        ) : (
          t`Any network`
        )}
      </p>
      <p className="mt-0.5 text-sm text-muted">
        {terms.expiresAt === null ? (
          <Trans>
            Created <Time at={link.createdAt} look="relative" />
          </Trans>
        ) : (
          <Trans>
            Created <Time at={link.createdAt} look="relative" />, expires{' '}
            <Time at={terms.expiresAt} />
          </Trans>
        )}
      </p>
    </div>
  )
}

function LinkActions({ link, onShare }: { link: AnyLink; onShare: (link: AnyLink) => void }) {
  const { t } = useLingui()
  const { state } = link
  const { id } = termsOf(link)
  const [busy, setBusy] = useState(false)

  async function change(work: () => Promise<{ link: AnyLink }>, done: string) {
    setBusy(true)
    try {
      cacheLink((await work()).link)
      toast(done)
    } catch (error) {
      const { title, body } = describeError(error)
      toast(title, { tone: 'warn', body })
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className="flex flex-wrap gap-2">
      <CopyButton label={t`Copy link`} text value={pageOfLink(link.link).href} />
      <Button icon={<Icon name="qr" size={14} />} onClick={() => onShare(link)} size="sm">
        <Trans>Share</Trans>
      </Button>
      <ForRole least="operator">
        {state === 'withdrawn' ? (
          <Button
            busy={busy}
            onClick={() =>
              void change(() => callProxy('linkRestore', { body: { id } }), t`Link reactivated`)
            }
            size="sm"
          >
            <Trans>Activate</Trans>
          </Button>
        ) : (
          <Button
            busy={busy}
            disabled={state !== 'open'}
            onClick={() =>
              void change(() => callProxy('linkWithdraw', { body: { id } }), t`Link deactivated`)
            }
            size="sm"
            variant="quiet"
          >
            <Trans>Deactivate</Trans>
          </Button>
        )}
      </ForRole>
    </div>
  )
}
