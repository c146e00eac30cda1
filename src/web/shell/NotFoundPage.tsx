import { Trans } from '@lingui/react/macro'
import { pathTo } from '../router/paths.ts'
import { Link } from '../router/Link.tsx'
import { buttonClass } from '../ui/button-class.ts'
import { PageHeader } from './PageHeader.tsx'

export function NotFoundPage() {
  return (
    <>
      <PageHeader subtitle={<Trans>Check the link.</Trans>} title={<Trans>Page not found</Trans>} />
      <div className="flex gap-2">
        <Link className={buttonClass({ variant: 'primary' })} to={pathTo('overview', {})}>
          <Trans>Overview</Trans>
        </Link>
        <Link className={buttonClass()} to={pathTo('payments', {})}>
          <Trans>Payments</Trans>
        </Link>
      </div>
    </>
  )
}
