import { Trans } from '@lingui/react/macro'
import { PageHeader } from '../../shell/PageHeader.tsx'

/** Checks proofs of payment. */
export function VerifyPage() {
  return <PageHeader title={<Trans>Verify</Trans>} />
}
