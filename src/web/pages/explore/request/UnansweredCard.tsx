import { t as words } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { SignIn } from '../../../shell/SignIn.tsx'
import { useConfig } from '../../../api/use-config.ts'
import { Button, type ButtonProps } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { ResultTitle } from './ResultTitle.tsx'
import type { PaymentHeader, Unanswered } from './send-request.ts'
import { toCurl, type ResourceRequest } from './request.ts'

/** The headers that let pages read a 402, for the server's owner. */
export const CORS_FIX = `Access-Control-Allow-Origin: *
Access-Control-Allow-Headers: X-PAYMENT, PAYMENT-SIGNATURE, Content-Type
Access-Control-Expose-Headers: PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE`

export type UnansweredCardProps = {
  unanswered: Unanswered
  request: ResourceRequest
  /** The payment that went along: it may have been used. */
  payment?: PaymentHeader
  onRetry: () => void
  /** The same once more, by another way. */
  onRoute: (via: ResourceRequest['via']) => void
}

/** The relay is no way around these: it ends after a minute and 512 KB. */
const WITHOUT_RELAY: ReadonlySet<Unanswered['cause']> = new Set([
  'broken_off',
  'stopped',
  'too_large',
])

/** Why there is nothing to show, who can put it right, and the way around. */
export function UnansweredCard({
  unanswered,
  request,
  payment,
  onRetry,
  onRoute,
}: UnansweredCardProps) {
  const { relay } = useConfig()
  const body = bodyOf(unanswered, new URL(request.url).host)
  const around = request.via === 'direct' && relay !== 'off' && !WITHOUT_RELAY.has(unanswered.cause)
  return (
    <Card title={<ResultTitle>{describeCause(unanswered.cause)}</ResultTitle>}>
      {body && <p className="mb-2 text-sm text-muted">{body}</p>}
      {unanswered.detail && <p className="mb-2 text-sm">{unanswered.detail}</p>}
      {payment && (
        <p className="text-sm font-medium">
          <Trans>The payment may have been used.</Trans> <Trans>You are not charged again.</Trans>
        </p>
      )}
      <div className="mt-4 flex flex-wrap items-center gap-2">
        {unanswered.signIn && <SignIn />}
        {around && (
          <Button icon={<Icon name="refresh" />} onClick={() => onRoute('relay')} variant="primary">
            <Trans>Use the relay</Trans>
          </Button>
        )}
        <Button
          icon={<Icon name="refresh" />}
          onClick={onRetry}
          variant={around || unanswered.signIn ? 'secondary' : 'primary'}
        >
          <Trans>Ask again</Trans>
        </Button>
        {payment && request.via === 'relay' && <DirectButton onClick={() => onRoute('direct')} />}
        {payment && <CopyCurl payment={payment} request={request} />}
      </div>
      {unanswered.cause === 'cors' && <CorsHelp />}
    </Card>
  )
}

/** The way without the relay's limits, for what was paid for. */
export function DirectButton(look: Pick<ButtonProps, 'busy' | 'onClick' | 'size'>) {
  return (
    <Button {...look} icon={<Icon name="refresh" />}>
      <Trans>From this browser</Trans>
    </Button>
  )
}

/** The paid request for a program without the limits of this page: it can receive what was paid for. */
export function CopyCurl({
  request,
  payment,
}: {
  request: ResourceRequest
  payment: PaymentHeader
}) {
  const { t } = useLingui()
  return <CopyButton label={t`Copy as curl`} text value={toCurl(request, payment)} />
}

/** What the server's owner would write, ready to copy. */
export function CorsHelp() {
  const { t } = useLingui()
  return (
    <div className="mt-5 border-t border-line pt-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm font-medium">
          <Trans>Headers for your server</Trans>
        </p>
        <CopyButton label={t`Copy`} text value={CORS_FIX} />
      </div>
      <pre
        aria-label={t`Headers for your server`}
        className="mt-2 overflow-x-auto rounded-lg bg-sunken px-4 py-3 font-mono text-[13px]"
        role="region"
        tabIndex={0}
      >
        {CORS_FIX}
      </pre>
    </div>
  )
}

/** Said before a payment goes through the relay, and where it failed. */
export function RelayLimits() {
  return <Trans>Limits: public HTTPS servers, one minute, 512 KB.</Trans>
}

export function describeCause(cause: Unanswered['cause']): string {
  switch (cause) {
    case 'cors':
      return words`Blocked by the server`
    case 'policy':
      return words`Blocked by this site`
    case 'too_large':
      return words`Response too large`
    case 'relay':
      return words`Relay failed`
    case 'silent':
      return words`No answer`
    case 'redirected':
      return words`Redirected`
    case 'broken_off':
      return words`The answer got lost`
    case 'stopped':
      return words`Stopped`
  }
}

function bodyOf({ cause }: Unanswered, host: string): ReactNode {
  const size = '512 KB'
  switch (cause) {
    case 'cors':
      return <Trans>{host} hides its response (CORS).</Trans>
    case 'policy':
      return <Trans>{host} is not allowed here.</Trans>
    case 'too_large':
      return <Trans>Maximum: {size}.</Trans>
    case 'relay':
      return <RelayLimits />
    case 'silent':
      return <Trans>{host} does not answer.</Trans>
    case 'redirected':
      return <Trans>Nothing was sent to the new address.</Trans>
    default:
      return null
  }
}
