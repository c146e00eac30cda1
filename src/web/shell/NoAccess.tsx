import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Card } from '../ui/Card.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'
import type { IconName } from '../ui/Icon.tsx'

/** In place of a page of the account, for a wallet without a role. */
export function NoAccess({ icon, action }: { icon: IconName; action?: ReactNode }) {
  return (
    <Card>
      <EmptyState action={action} icon={icon} title={<Trans>No access</Trans>}>
        <Trans>Sign in with a wallet that has a role.</Trans>
      </EmptyState>
    </Card>
  )
}
