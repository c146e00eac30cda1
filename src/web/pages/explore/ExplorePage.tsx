import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useCallback, useState } from 'react'
import { useConfig } from '../../api/use-config.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { useStepFocus } from '../../payment-flow/steps/Steps.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { formatDecodeProblem } from '../../payment-intent/fact-values.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Stepper } from '../../ui/Stepper.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { ChallengeCard } from './ChallengeCard.tsx'
import { PurchaseNotice } from './PurchaseNotice.tsx'
import { RequestForm } from './RequestForm.tsx'
import { type PaymentChoice, useExplorer, type ExplorerView } from './use-explorer.ts'
import { isServed } from './pay/purchase.ts'
import { ResponseCard, HeaderList } from './request/ResponseCard.tsx'
import { ResultTitle } from './request/ResultTitle.tsx'
import { UnansweredCard, CorsHelp } from './request/UnansweredCard.tsx'
import { isChallenge, readChallenge, type NoChallenge } from './request/challenge.ts'
import type { ResourceRequest } from './request/request.ts'
import { isSuccess, type ResourceResult, type ResourceResponse } from './request/send-request.ts'

// It decodes transactions of every chain: a page that was opened to ask needs none of it.
const PurchaseFlow = lazy(() =>
  import('./pay/PurchaseFlow.tsx').then((module) => ({ default: module.PurchaseFlow })),
)

/** Asks for a resource that costs something, and shows each step of paying for it. */
export function ExplorePage() {
  const { t } = useLingui()
  const { fields, setFields, view, busy, send, pay, payAgain, startOver } = useExplorer()
  const [servedId, setServedId] = useState<string>()
  const purchaseId = view.name === 'purchase' ? view.purchase.id : undefined
  const onServed = useCallback(() => setServedId(purchaseId), [purchaseId])
  const sendVia = (request: ResourceRequest, via: ResourceRequest['via']) => {
    setFields({ ...fields, via })
    void send({ ...request, via })
  }

  // A new answer has the focus; a purchase moves it itself.
  const container = useStepFocus(view.name === 'answer' ? String(view.at) : '')
  // On paper a purchase is its receipt.
  const offPaper = view.name === 'purchase' ? 'no-print' : undefined

  return (
    <div className="mx-auto max-w-[880px]">
      <div className={offPaper}>
        <PageHeader
          subtitle={<Trans>Request and pay for x402 resources.</Trans>}
          title={<Trans>Explore</Trans>}
        />
        <div className="mb-5">
          <Stepper
            current={stepOf(view, servedId)}
            label={t`A paid request`}
            steps={[
              { id: 'ask', label: t`Request` },
              { id: 'terms', label: t`Price` },
              { id: 'pay', label: t`Pay` },
              { id: 'answer', label: t`Response` },
            ]}
          />
        </div>
        {view.name !== 'purchase' && <PurchaseNotice />}
        {view.name === 'purchase' || (view.name === 'answer' && view.result.kind === 'answered') ? (
          <RequestLine onChange={startOver} request={view.request} />
        ) : (
          // A purchase takes its place in a moment.
          view.name !== 'opening' && (
            <RequestForm
              busy={busy}
              fields={fields}
              focused={view.name === 'idle' && view.again === true}
              onSend={(request) => void send(request)}
              onChange={setFields}
            />
          )
        )}
      </div>
      <div className="mt-4 space-y-4" ref={container}>
        {'notice' in view && view.notice && (
          <Banner role="alert" tone="warn">
            {view.notice}
          </Banner>
        )}
        {view.name === 'opening' && <PageSkeleton />}
        {view.name === 'answer' && (
          <ResponseView
            busy={busy}
            onPay={(choice) => void pay(view, choice)}
            onRetry={() => void send(view.request)}
            onRoute={(via) => sendVia(view.request, via)}
            view={view}
          />
        )}
        {view.name === 'purchase' && (
          <Suspense fallback={<PageSkeleton />}>
            <PurchaseFlow
              first={view.purchase}
              key={view.purchase.id}
              onLeave={() => void send(view.request)}
              onOther={({ sender, walletName }) =>
                void payAgain(view, { address: sender, walletName })
              }
              onPayAnew={(paymentOption) => void payAgain(view, payerOf(view.run), paymentOption)}
              onServed={onServed}
              run={view.run}
            />
          </Suspense>
        )}
      </div>
    </div>
  )
}

function stepOf(view: ExplorerView, servedId: string | undefined): string {
  if (view.name === 'purchase')
    return isServed(view.purchase) || view.purchase.id === servedId ? 'answer' : 'pay'
  if (view.name !== 'answer' || view.result.kind !== 'answered') return 'ask'
  return view.result.answer.status === 402 ? 'terms' : 'answer'
}

function payerOf(run: PaymentRun): { address: string; walletName: string } {
  const { sender, walletName } = run.state().order
  return { address: sender, walletName }
}

/** The request that is being paid for, out of the way. */
function RequestLine({ request, onChange }: { request: ResourceRequest; onChange: () => void }) {
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-xl border border-line bg-surface px-5 py-3">
      <p className="min-w-0 flex-1 basis-full font-mono sm:basis-0 text-[13px]">
        <span className="me-2 text-muted">{request.method}</span>
        <UntrustedText className="[overflow-wrap:anywhere]" text={request.url} />
      </p>
      <Button onClick={onChange} size="sm">
        <Trans>New request</Trans>
      </Button>
    </div>
  )
}

type ResponseViewProps = {
  view: { request: ResourceRequest; result: ResourceResult; at: number }
  busy: boolean
  onPay: (choice: PaymentChoice) => void
  onRetry: () => void
  onRoute: (via: ResourceRequest['via']) => void
}

/** What came of a request without a payment. */
function ResponseView({ view, busy, onPay, onRetry, onRoute }: ResponseViewProps) {
  const { result, request, at } = view
  if (result.kind === 'unanswered')
    return (
      <UnansweredCard onRetry={onRetry} onRoute={onRoute} request={request} unanswered={result} />
    )
  const { answer } = result
  if (answer.status !== 402)
    return (
      <ResponseCard
        answer={answer}
        url={request.url}
        title={
          isSuccess(answer.status) ? <Trans>No payment required</Trans> : <Trans>Response</Trans>
        }
      />
    )
  const read = readChallenge(answer)
  if (!isChallenge(read))
    return (
      <NoChallengeCard
        answer={answer}
        none={read}
        onRelay={() => onRoute('relay')}
        request={request}
      />
    )
  return (
    <ChallengeCard
      answer={answer}
      busy={busy}
      challenge={read}
      direct={request.via === 'direct'}
      key={at}
      onPay={(paymentOption, { account, way, version }) =>
        onPay({
          paymentOption,
          version,
          way,
          payer: { address: account.address, walletName: account.walletName },
        })
      }
    />
  )
}

type NoChallengeCardProps = {
  none: NoChallenge
  answer: ResourceResponse
  request: ResourceRequest
  onRelay: () => void
}

/** A 402 that does not say what it wants; or one whose words the browser keeps from this page. */
function NoChallengeCard({ none, answer, request, onRelay }: NoChallengeCardProps) {
  const { relay } = useConfig()
  const broken = none.problems.find(({ problem }) => problem === 'unreadable')
  const hidden = request.via === 'direct' && !broken
  const detail = broken?.detail ? formatDecodeProblem(broken.detail) : ''
  return (
    <Card
      title={
        <ResultTitle>
          {hidden ? <Trans>Payment terms hidden</Trans> : <Trans>Price missing</Trans>}
        </ResultTitle>
      }
    >
      <p className="text-sm text-muted">
        {broken ? (
          <Trans>
            Unreadable x402 terms (version {broken.version}). {detail}
          </Trans>
        ) : hidden ? (
          <Trans>Payment header hidden (CORS).</Trans>
        ) : (
          <Trans>No x402 terms in the 402 response.</Trans>
        )}
      </p>
      {hidden && relay !== 'off' && (
        <Button className="mt-4" icon={<Icon name="refresh" />} onClick={onRelay} variant="primary">
          <Trans>Use the relay</Trans>
        </Button>
      )}
      {hidden && <CorsHelp />}
      <HeaderList answer={answer} />
    </Card>
  )
}
