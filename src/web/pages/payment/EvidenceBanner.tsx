import { Trans, useLingui } from '@lingui/react/macro'
import type { NetworkId } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { useSession } from '../../api/session.ts'
import { LazyEvidenceCard } from '../../payment-flow/LazyEvidenceCard.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { openEvidence } from './open-evidence.ts'

/** A transfer that fits this order came, and nothing ties it to its payer: the payer can sign for it, the payee can ask them to. */
export function EvidenceBanner({
  payment,
  networkId,
}: {
  payment: PaymentStatusBody
  networkId: NetworkId
}) {
  const { t } = useLingui()
  const state = useSession()
  const evidence = openEvidence(payment, networkId)
  if (!evidence || state.kind !== 'known') return null
  const { session } = state
  const payee =
    session !== null &&
    !session.wallets.includes(payment.sender) &&
    (session.operator || session.wallets.includes(payment.recipient))
  if (!payee) return <LazyEvidenceCard asset={payment} evidence={evidence} heading="h2" />
  return (
    <Banner
      action={<CopyButton label={t`Copy the link for the payer`} text value={location.href} />}
      className="mt-4"
      icon="question"
      role="note"
      title={<Trans>A payment like this arrived, and nothing shows whose it is</Trans>}
      tone="warn"
    >
      <Trans>
        Do not deliver on it yet. Send the payer the link to this page: they sign there that the
        payment is theirs. It costs them nothing.
      </Trans>
    </Banner>
  )
}
