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
      title={<Trans>No payments match</Trans>}
    >
      {searched ? (
        <Trans>Try a reference, an address, amount:&gt;1 or status:failed.</Trans>
      ) : (
        <Trans>Change or clear the filters.</Trans>
      )}
    </EmptyState>
  )
}

export function FirstRun() {
  return (
    <EmptyState
      action={
        <Link className={buttonClass({ variant: 'primary' })} to={pathTo('checkout', {})}>
          <Trans>Make a payment</Trans>
        </Link>
      }
      icon="payments"
      title={<Trans>No payments yet</Trans>}
    >
      <Trans>Your payments appear here.</Trans>
    </EmptyState>
  )
}
