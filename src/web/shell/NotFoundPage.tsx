import { pathTo } from '../paths.ts'
import { Link } from '../router/Link.tsx'
import { buttonClass } from '../ui/button-class.ts'
import { PageHeader } from './PageHeader.tsx'

export function NotFoundPage() {
  return (
    <>
      <PageHeader subtitle="The link may be old or mistyped." title="There is no page here" />
      <div className="flex gap-2">
        <Link className={buttonClass({ variant: 'primary' })} to={pathTo('overview', {})}>
          Go to the overview
        </Link>
        <Link className={buttonClass()} to={pathTo('payments', {})}>
          Find a payment
        </Link>
      </div>
    </>
  )
}
