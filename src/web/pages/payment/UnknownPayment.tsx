import { Trans } from '@lingui/react/macro'
import { useSession } from '../../api/session.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'

/** Where no payment of this id is, or none that the reader may see: nobody is told which of the two. */
export function UnknownPayment({ id }: { id: string }) {
  const state = useSession()
  const all = state.kind === 'known' && state.session?.operator
  return (
    <Card>
      <EmptyState
        action={
          <Link className={buttonClass({})} to={pathTo('payments', {})}>
            <Trans>Show all payments</Trans>
          </Link>
        }
        icon="search"
        title={<Trans>No payment under this id</Trans>}
      >
        <span className="mb-2 block font-mono text-[13px] [overflow-wrap:anywhere]">{id}</span>
        {all ? (
          <Trans>
            This dashboard has no payment with this id. Compare every character with your source.
          </Trans>
        ) : (
          <Trans>
            It does not exist, or it is of other wallets than yours. Check the link, or sign in with
            the wallet that paid or was paid.
          </Trans>
        )}
      </EmptyState>
    </Card>
  )
}
