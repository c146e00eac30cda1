import { Trans } from '@lingui/react/macro'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { buttonClass } from '../../ui/button-class.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'

export function NothingFound({ searched }: { searched: boolean }) {
  return (
    <EmptyState
      action={
        <Button onClick={() => navigate(pathTo('payments', {}), { replace: true })}>
          <Trans>Clear filters</Trans>
        </Button>
      }
      icon="search"
      title={<Trans>No payment matches</Trans>}
    >
      {searched ? (
        <Trans>
          The search finds whole ids, addresses, transactions and references, and a web address from
          its beginning.
        </Trans>
      ) : (
        <Trans>Nothing here fits all of the filters at once.</Trans>
      )}
    </EmptyState>
  )
}

export function FirstRun() {
  return (
    <EmptyState
      action={
        <Link className={buttonClass({ variant: 'primary' })} to={pathTo('checkout', {})}>
          <Trans>Make a first payment</Trans>
        </Link>
      }
      icon="payments"
      title={<Trans>No payments yet</Trans>}
    >
      <Trans>
        Payments that you send or receive through this dashboard appear here immediately.
      </Trans>
    </EmptyState>
  )
}
