import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react'
import type { Family } from '#contract/address.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { call } from '../../api/client.ts'
import { takePassed } from '../../api/page-transfer.ts'
import { useConfig } from '../../api/use-config.ts'
import { errorSentence } from '../../errors/codes.ts'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { ExpectedForm } from './ExpectedForm.tsx'
import { ProofBox } from './ProofBox.tsx'
import { ProofView } from './ProofView.tsx'
import { ReceiptView } from './ReceiptView.tsx'
import { ResultCard } from './ResultCard.tsx'
import { findTransaction, networksOf } from './chain-checks.ts'
import { readExpected, startFields, type ExpectedProblems } from './expected.ts'
import { recognize, type Recognized } from './recognize.ts'
import type { ProofResult } from './run-checks.ts'
import { OpenSettlements } from './settle/OpenSettlements.tsx'

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
            label={t`Mode`}
            onChange={setMode}
            options={[
              { value: 'one', label: t`One proof` },
              { value: 'many', label: t`Many proofs` },
            ]}
            value={mode}
          />
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
      // What was found out about one receipt says nothing about another one that names the same transaction.
      return <ReceiptView key={JSON.stringify(found.receipt)} receipt={found.receipt} />
    case 'payment_id':
      return <PaymentIdView id={found.id} key={found.id} onProof={onText} />
    default:
      return null
  }
}

/**
 * A payment of this merchant, by its id: its state, and its proof, which can be checked like any
 * other.
 */
function PaymentIdView({ id, onProof }: { id: string; onProof: (header: string) => void }) {
  const [payment, setPayment] = useState<PaymentStatusBody>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)

  async function look() {
    setBusy(true)
    setError(undefined)
    try {
      setPayment(await call('paymentStatus', { params: { paymentId: id } }))
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }

  if (error) return <QueryError busy={busy} error={error} onRetry={() => void look()} />
  if (!payment) {
    return (
      <Card
        subtitle={<Trans>Visible to payer, recipient and operator.</Trans>}
        title={<Trans>A payment ID</Trans>}
      >
        <Button
          busy={busy}
          icon={<Icon name="search" />}
          onClick={() => void look()}
          variant="primary"
        >
          <Trans>Look it up</Trans>
        </Button>
      </Card>
    )
  }
  const { paymentProof } = payment
  return (
    <Card
      action={<StatusPill status={payment.status} />}
      title={<Trans>The service’s record</Trans>}
    >
      <Facts>
        <Fact name={<Trans>Amount</Trans>}>
          <Amount
            atomic={payment.amountAtomic}
            decimals={payment.decimals}
            exact
            symbol={payment.symbol}
          />
        </Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap gap-2">
        <Link
          className={buttonClass({ variant: paymentProof ? 'secondary' : 'primary' })}
          to={pathTo('payment', { params: { paymentId: id } })}
        >
          <Trans>Show the payment</Trans>
        </Link>
        {paymentProof && (
          <Button
            icon={<Icon name="shield" />}
            onClick={() => onProof(paymentProof)}
            variant="primary"
          >
            <Trans>Check its proof</Trans>
          </Button>
        )}
      </div>
    </Card>
  )
}

/** A transaction, held against what the reader expected, by their own node alone. */
function TransactionView({ id, family }: { id: string; family: Family }) {
  const { t } = useLingui()
  const { networks: all, sellerWallets } = useConfig()
  const networks = networksOf(all, family)
  const [fields, setFields] = useState(() => startFields(undefined, networks, sellerWallets))
  const [problems, setProblems] = useState<ExpectedProblems>({})
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<ProofResult>()

  async function run() {
    const read = readExpected(fields, all)
    setProblems(read.ok ? {} : read.problems)
    if (!read.ok) return
    setBusy(true)
    const view = await findTransaction(id, read.expected, { payer: null, memo: null }).catch(
      (error: unknown) => ({
        checks: [],
        settled: false,
        absent: false,
        transaction: id,
        undecided: errorSentence(error, t`The check failed.`),
      }),
    )
    setBusy(false)
    const undecided = view.absent ? t`Not found. Check the network.` : view.undecided
    setResult({
      ...view,
      vouched: false,
      undecided,
      paymentId: null,
      already: false,
      signIn: false,
    })
  }

  if (networks.length === 0) {
    return (
      <Banner tone="warn">
        <Trans>Network not configured.</Trans>
      </Banner>
    )
  }
  return (
    <>
      <Card
        subtitle={<Trans>Purpose unknown without memo or resource.</Trans>}
        title={
          family === 'evm' ? <Trans>Ethereum transaction</Trans> : <Trans>Solana transaction</Trans>
        }
      >
        <ExpectedForm
          fields={fields}
          many
          onChange={(next) => {
            setFields(next)
            setResult(undefined)
          }}
          problems={problems}
        />
        <Button
          busy={busy}
          className="mt-5"
          icon={<Icon name="shield" />}
          onClick={() => void run()}
          variant="primary"
        >
          <Trans>Ask my RPC endpoint</Trans>
        </Button>
      </Card>
      {result && (
        <ResultCard
          network={all.find(({ network }) => network === fields.network)}
          result={result}
        />
      )}
    </>
  )
}
