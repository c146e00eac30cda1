import { Trans, useLingui } from '@lingui/react/macro'
import { useCallback, useState } from 'react'
import { pathTo } from '../../router/paths.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { navigate } from '../../router/location.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Stepper } from '../../ui/Stepper.tsx'
import { ResponseView } from './ResponseView.tsx'
import { repeatedChoice } from './open-purchase.ts'
import { isServed } from './pay/purchase.ts'
import { PurchaseFlow } from './pay/PurchaseFlow.tsx'
import { RequestForm } from './RequestForm.tsx'
import { RequestLine } from './RequestLine.tsx'
import type { ResourceRequest } from './request/request.ts'
import { Unfinished } from './Unfinished.tsx'
import { useExplorer, type ExplorerView } from './use-explorer.ts'

/** Asks for a resource that costs something, and shows each step of paying for it. */
export function ExplorePage() {
  const { t } = useLingui()
  const { fields, setFields, view, busy, send, begin, pay, startOver } = useExplorer()
  const [servedId, setServedId] = useState<string>()
  const visitId = view.name === 'visit' ? view.visit.id : undefined
  const onServed = useCallback(() => setServedId(visitId), [visitId])
  const byRelay = (request: ResourceRequest) => {
    setFields({ ...fields, via: 'relay' })
    void send({ ...request, via: 'relay' })
  }

  return (
    <div className="mx-auto max-w-[880px]">
      <PageHeader
        subtitle={
          <Trans>
            Ask for something that costs money, see what the server wants, and pay for it step by
            step.
          </Trans>
        }
        title={<Trans>Explore</Trans>}
      />
      <div className="mb-5">
        <Stepper
          current={stepOf(view, servedId)}
          label={t`A paid request`}
          steps={[
            { id: 'ask', label: t`Ask` },
            { id: 'terms', label: t`Terms` },
            { id: 'pay', label: t`Pay` },
            { id: 'answer', label: t`Answer` },
          ]}
        />
      </div>
      {view.name !== 'visit' && (
        <Unfinished
          onOpen={(id) => navigate(pathTo('explore', { search: { visit: id } }), { replace: true })}
        />
      )}
      {view.name === 'visit' ? (
        <RequestLine onChange={startOver} request={view.request} />
      ) : (
        <RequestForm
          asked={view.name === 'answer'}
          busy={busy}
          fields={fields}
          onAsk={(request) => void send(request)}
          onChange={setFields}
        />
      )}
      <div className="mt-4 space-y-4">
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
            onRelay={() => byRelay(view.request)}
            onRetry={() => void send(view.request)}
            view={view}
          />
        )}
        {view.name === 'visit' && (
          <PurchaseFlow
            first={view.visit}
            key={view.visit.id}
            onLeave={() => void send(view.request)}
            onOther={({ sender, walletName }) =>
              void begin(view.request, repeatedChoice(view.visit, { address: sender, walletName }))
            }
            onPayAnew={(offer) =>
              void begin(view.request, repeatedChoice(view.visit, payerOf(view.run), offer))
            }
            onServed={onServed}
            run={view.run}
          />
        )}
      </div>
    </div>
  )
}

function stepOf(view: ExplorerView, servedId: string | undefined): string {
  if (view.name === 'visit')
    return isServed(view.visit) || view.visit.id === servedId ? 'answer' : 'pay'
  if (view.name !== 'answer' || view.asked.kind !== 'answered') return 'ask'
  return view.asked.answer.status === 402 ? 'terms' : 'answer'
}

function payerOf(run: PaymentRun): { address: string; walletName: string } {
  const { sender, walletName } = run.state().order
  return { address: sender, walletName }
}
