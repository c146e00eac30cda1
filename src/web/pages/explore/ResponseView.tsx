import { Trans } from '@lingui/react/macro'
import { ResponseCard } from './request/ResponseCard.tsx'
import type { ResourceResult } from './request/send-request.ts'
import { isChallenge, readChallenge } from './request/challenge.ts'
import { ChallengeCard } from './ChallengeCard.tsx'
import { NoChallengeCard } from './NoChallengeCard.tsx'
import type { PaymentChoice } from './open-purchase.ts'
import type { ResourceRequest } from './request/request.ts'
import { UnansweredCard } from './request/UnansweredCard.tsx'

export type ResponseViewProps = {
  view: { request: ResourceRequest; asked: ResourceResult; at: number }
  busy: boolean
  onPay: (choice: PaymentChoice) => void
  onRetry: () => void
  onRelay: () => void
}

/** What came of a request without a payment. */
export function ResponseView({ view, busy, onPay, onRetry, onRelay }: ResponseViewProps) {
  const { asked, request, at } = view
  if (asked.kind === 'unanswered')
    return (
      <UnansweredCard onRelay={onRelay} onRetry={onRetry} request={request} unanswered={asked} />
    )
  const { answer } = asked
  if (answer.status !== 402)
    return (
      <ResponseCard
        answer={answer}
        url={request.url}
        title={
          answer.status < 400 ? (
            <Trans>This costs nothing</Trans>
          ) : (
            <Trans>The server’s answer</Trans>
          )
        }
      />
    )
  const read = readChallenge(answer)
  if (!isChallenge(read))
    return <NoChallengeCard answer={answer} none={read} onRelay={onRelay} request={request} />
  return (
    <ChallengeCard
      answer={answer}
      busy={busy}
      challenge={read}
      direct={request.via === 'direct'}
      key={at}
      onPay={(offer, { account, way, version }) =>
        onPay({
          offer,
          version,
          way,
          payer: { address: account.address, walletName: account.walletName },
        })
      }
    />
  )
}
