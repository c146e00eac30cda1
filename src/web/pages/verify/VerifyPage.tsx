import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react'
import { takePassed } from '../../api/page-transfer.ts'
import { pathTo } from '../../router/paths.ts'
import { navigate } from '../../router/location.ts'
import { useSearch } from '../../router/use-route.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { Card } from '../../ui/Card.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { PaymentIdView } from './PaymentIdView.tsx'
import { ProofBox } from './ProofBox.tsx'
import { ProofView } from './ProofView.tsx'
import { ReceiptView } from './ReceiptView.tsx'
import { OpenSettlements } from './settle/OpenSettlements.tsx'
import { recognize, type Recognized } from './recognize.ts'
import { TransactionView } from './TransactionView.tsx'

const ResumedSettlement = lazy(() =>
  import('./settle/ResumedSettlement.tsx').then((module) => ({
    default: module.ResumedSettlement,
  })),
)
const BatchView = lazy(() =>
  import('./BatchView.tsx').then((module) => ({ default: module.BatchView })),
)

/**
 * Checks proofs of payment: first by reading them here, then with the node or service that the
 * reader chooses.
 */
export function VerifyPage() {
  const { t } = useLingui()
  const [mode, setMode] = useState<'one' | 'many'>('one')
  const [text, setText] = useState(() => takePassed('verify') ?? '')
  const found = useMemo(() => recognize(text), [text])
  const { settlement } = useSearch('verify')
  const show = (id?: string) => navigate(pathTo('verify', { search: { settlement: id } }))
  return (
    <div className="mx-auto max-w-[880px]">
      <PageHeader
        action={
          <Segmented
            label={t`How many`}
            onChange={setMode}
            options={[
              { value: 'one', label: t`One proof` },
              { value: 'many', label: t`Many` },
            ]}
            value={mode}
          />
        }
        subtitle={
          <Trans>See whether a payment is what it says, before you hand anything over.</Trans>
        }
        title={<Trans>Verify</Trans>}
      />
      {settlement ? (
        <Suspense fallback={<PageSkeleton />}>
          <ResumedSettlement id={settlement} key={settlement} onLeave={() => show()} />
        </Suspense>
      ) : mode === 'many' ? (
        <Suspense fallback={<PageSkeleton />}>
          <BatchView />
        </Suspense>
      ) : (
        <div className="space-y-4">
          {found.kind === 'empty' && <OpenSettlements onOpen={show} />}
          <Card>
            <ProofBox
              accept=".json,.txt,application/json,text/plain"
              found={found}
              onText={setText}
              text={text}
            />
          </Card>
          {view(found, setText)}
        </div>
      )}
    </div>
  )
}

function view(found: Recognized, onText: (text: string) => void): ReactNode {
  switch (found.kind) {
    case 'proof':
      return <ProofView found={found} key={found.header} />
    case 'transaction':
      return <TransactionView family={found.family} id={found.id} key={found.id} />
    case 'receipt':
      return <ReceiptView key={found.receipt.transaction} receipt={found.receipt} />
    case 'payment_id':
      return <PaymentIdView id={found.id} key={found.id} onProof={onText} />
    default:
      return null
  }
}
