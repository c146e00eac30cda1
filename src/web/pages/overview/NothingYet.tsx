import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { hasRole } from '#contract/role.ts'
import { newestQuery, type Viewer } from '../../api/queries.ts'
import { useRole } from '../../api/session.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { buttonClass } from '../../ui/button-class.ts'

/** A period without payments; for a merchant who never had one, what to do first. */
export function NothingYet({ viewer }: { viewer: Viewer }) {
  const merchant = hasRole(useRole(), 'operator')
  const { data } = useQuery(newestQuery(viewer, {}, 1))
  if (data?.total === 0 && merchant) return <FirstSteps />
  return (
    <Card>
      <EmptyState
        action={
          data?.total ? (
            <Link className={buttonClass({ variant: 'primary' })} to={pathTo('payments', {})}>
              <Trans>All payments</Trans>
            </Link>
          ) : (
            <Link className={buttonClass({ variant: 'primary' })} to={pathTo('checkout', {})}>
              <Trans>Make a payment</Trans>
            </Link>
          )
        }
        icon="payments"
        title={<Trans>No payments in this period</Trans>}
      />
    </Card>
  )
}

const steps: readonly {
  to: string
  title: MessageDescriptor
  body?: MessageDescriptor
  button: MessageDescriptor
}[] = [
  {
    to: pathTo('links', {}),
    title: msg`Create a payment link`,
    button: msg`Payment links`,
  },
  {
    to: pathTo('developers', {}),
    title: msg`Take payments on your server`,
    button: msg`Developers`,
  },
  {
    to: pathTo('checkout', {}),
    title: msg`Make a test payment`,
    body: msg`Pay your own wallet from another one.`,
    button: msg`Pay`,
  },
]

function FirstSteps() {
  const { t } = useLingui()
  return (
    <Card flush title={<Trans>Receive your first payment</Trans>}>
      <ol className="divide-y divide-line border-t border-line">
        {steps.map(({ to, title, body, button }, index) => (
          <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-4" key={to}>
            <span
              aria-hidden
              className="figures inline-flex size-8 shrink-0 items-center justify-center rounded-full bg-neutral-soft text-sm font-medium text-neutral-ink"
            >
              {index + 1}
            </span>
            <div className="min-w-0 flex-1 basis-56 text-sm">
              <p className="font-medium">{t(title)}</p>
              {body && <p className="text-muted">{t(body)}</p>}
            </div>
            <Link
              className={buttonClass({
                variant: index === 0 ? 'primary' : 'secondary',
                size: 'sm',
              })}
              to={to}
            >
              {t(button)}
            </Link>
          </li>
        ))}
      </ol>
    </Card>
  )
}
