import { t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import {
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useRef,
  useState,
  type ReactNode,
  type RefObject,
} from 'react'
import { describeBeginFailure } from '../../payment-flow/begin-failure.ts'
import type { CheckoutFields } from '../../payment-flow/form/fields.ts'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import type { CheckoutPrefill } from '../../payment-flow/form/start-values.ts'
import type { JournalEntry } from '../../payment-flow/journal.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { Link } from '../../router/Link.tsx'
import { getLocation, navigate } from '../../router/location.ts'
import { pathToRun } from '../../router/path-to-run.ts'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { whenIdle } from '../../ui/when-idle.ts'
import type { StartOver } from './CheckoutRun.tsx'
import { Details } from './Details.tsx'

/** What follows the form. It is fetched once the form is shown. */
const loadRuns = () => import('../../payment-flow/form/runs.ts')
const loadRun = () => import('./CheckoutRun.tsx')
const CheckoutRun = lazy(() => loadRun().then((module) => ({ default: module.CheckoutRun })))

type View =
  | { name: 'opening' }
  /** `previous`: the inputs of a payment that was given up or refused, to be changed. */
  | {
      name: 'details'
      previous?: WalletPaymentIntent
      network?: string
      notice?: string
      blockedUntil?: number | undefined
    }
  /** Another tab has it. A form with its values here would invite to pay twice. */
  | { name: 'held' }
  | { name: 'payment'; run: PaymentRun }

export type CheckoutProps = {
  prefill: CheckoutPrefill
  link?: OpenLink
  /** Prepares at once what is asked for, where it is complete. */
  begin?: boolean
  /** The payment that the address names. */
  paymentId: string | undefined
  /** The page's own address, with a payment or without; `network` is that of the payment before. */
  addressOf: (at: { payment?: string; network?: string }) => string
  /** On top, and no form then: why no new payment can be made here. */
  closed?: ReactNode | false
  /** Has the price of a link quoted again, for the form that is shown once more. */
  onRenew?: () => void
  /** Connects a wallet for the payment, where the payer has chosen no currency yet. */
  onConnect?: (() => void) | undefined
  /** What the connected wallet can pay is being read. */
  connecting?: boolean
  /** A field of the form is in use. */
  onUse?: () => void
  /** The network of the form or of the payment that is shown. */
  onNetwork?: ((network: string) => void) | undefined
  /** What is set above the form is not valid: nothing is reviewed or shown as a code. */
  invalid?: boolean
  /** What is paid for: above every step but the receipt, which names it too. */
  item?: ReactNode
  /** Above the form. */
  children?: ReactNode
}

/**
 * Paying, under one address. The address names the payment from its first request on, so a reload takes up the same one,
 * and going back never sends anything again.
 */
export function Checkout({
  prefill,
  link,
  begin = false,
  paymentId,
  addressOf,
  closed,
  onRenew,
  invalid = false,
  onConnect,
  connecting = false,
  onUse,
  onNetwork,
  item,
  children,
}: CheckoutProps) {
  const [view, setView] = useState<View>({ name: 'opening' })
  // Another currency, or a refreshed price, is another form.
  const [typed, setTyped] = useState<CheckoutFields>()

  // Its address may still be in view when the form is back.
  const notBegun = useRef<string>(undefined)

  useEffect(() => {
    const gone = new AbortController()
    void open()
    return () => gone.abort()

    async function open() {
      const next = await openView(paymentId)
      if (gone.signal.aborted || (paymentId && paymentId === notBegun.current)) return
      setView((view) => (isOf(view, paymentId) ? view : next))
      if (next.name !== 'held' || !paymentId) return
      const { untilLetGo } = await import('../../payment-flow/tab-runs.ts')
      if (await untilLetGo(paymentId, gone.signal)) await open()
    }
  }, [paymentId])

  const shownNetwork = view.name === 'payment' ? view.run.state().order.network : undefined
  useEffect(() => {
    if (shownNetwork !== undefined) onNetwork?.(shownNetwork)
  }, [onNetwork, shownNetwork])

  // What fails here is fetched again, and fails visibly, when it is needed.
  useEffect(() => whenIdle(() => void loadRun().catch(() => undefined)), [])

  const start = useCallback(
    async (order: WalletPaymentIntent) => {
      const { beginRun } = await loadRuns()
      const run = await beginRun(order)
      setView({ name: 'payment', run })
      navigate(addressOf({ payment: order.id }), { replace: true })
      try {
        await run.build()
      } catch (error) {
        // Nothing is signed yet. The form that began it is gone: its values and the reason are in the next one.
        const notice = describeBeginFailure(error)
        const { id, network } = order
        notBegun.current = id
        setView((view) =>
          isOf(view, id) ? { name: 'details', network, previous: order, notice } : view,
        )
        if (getLocation().query.includes(id)) navigate(addressOf({}), { replace: true })
      }
    },
    [addressOf],
  )

  const startOver = useCallback(
    (from: StartOver) => {
      const order = 'after' in from ? from.after : 'again' in from ? from.again : from.change
      // A reference names one order: paying again is another one.
      const previous =
        'after' in from ? undefined : 'again' in from ? { ...order, reference: undefined } : order
      const blockedUntil = 'change' in from ? from.blockedUntil : undefined
      setTyped(undefined)
      setView({ name: 'details', network: order.network, previous, blockedUntil })
      navigate(addressOf('after' in from ? { network: order.network } : {}), { replace: true })
      if ('change' in from && from.renew) onRenew?.()
    },
    [addressOf, onRenew],
  )

  const heading = useRef<HTMLHeadingElement>(null)
  useFormFocus(heading, view.name === 'opening' ? undefined : view.name === 'details' && !closed)

  if (view.name === 'opening') return <PageSkeleton />
  if (view.name === 'held') return <OpenElsewhere onOther={() => navigate(addressOf({}))} />
  if (view.name === 'payment')
    return (
      <Suspense fallback={<PageSkeleton />}>
        <CheckoutRun
          item={item}
          key={view.run.state().order.id}
          onStart={start}
          onStartOver={startOver}
          run={view.run}
        />
      </Suspense>
    )
  return (
    <>
      {view.notice && (
        <Banner className="mb-4" role="status" tone="warn">
          {view.notice}
        </Banner>
      )}
      <Unfinished />
      {closed && <div className="mb-4">{closed}</div>}
      {item}
      {children}
      {!closed && (
        <h2 className="sr-only" ref={heading} tabIndex={-1}>
          <Trans>Payment details</Trans>
        </h2>
      )}
      {!closed && (
        <Details
          begin={begin && paymentId === undefined && view.network === undefined && !view.notice}
          blockedUntil={view.blockedUntil}
          invalid={invalid}
          prefill={
            link?.choice ? prefill : { ...prefill, network: view.network ?? prefill.network }
          }
          // Another way to pay a link is another form.
          key={link?.choice && `${prefill.network} ${prefill.asset} ${prefill.amount}`}
          link={link}
          onStart={start}
          onConnect={onConnect}
          connecting={connecting}
          onUse={onUse}
          onNetwork={onNetwork}
          onType={setTyped}
          typed={link && typed}
          previous={view.previous}
        />
      )}
    </>
  )
}

/**
 * A form that replaces a review or a notice has no control that had the focus before: its heading gets it. `shown`: undefined before anything is shown, when
 * the page's own heading gets the focus.
 */
function useFormFocus(
  heading: RefObject<HTMLHeadingElement | null>,
  shown: boolean | undefined,
): void {
  const before = useRef<boolean>(undefined)
  useEffect(() => {
    const isBack = shown && before.current === false
    before.current = shown
    if (isBack && document.activeElement === document.body) heading.current?.focus()
  }, [heading, shown])
}

/** What is shown already: this payment, or a form that keeps what it is told. */
function isOf(view: View, paymentId: string | undefined): boolean {
  if (paymentId === undefined) return view.name === 'details'
  return view.name === 'payment' && view.run.state().order.id === paymentId
}

function OpenElsewhere({ onOther }: { onOther: () => void }) {
  return (
    <Banner
      action={
        <Button onClick={onOther} size="sm">
          <Trans>New payment</Trans>
        </Button>
      }
      role="status"
      tone="warn"
    >
      <Trans>Open in another tab. Continue there, or close it.</Trans>
    </Banner>
  )
}

async function openView(paymentId: string | undefined): Promise<View> {
  try {
    if (paymentId === undefined) return { name: 'details' }
    const { resumeRun, unfinishedPayments } = await loadRuns()
    const run = await resumeRun(paymentId)
    if (run === 'held') return { name: 'held' }
    if (run) return { name: 'payment', run }
    const [open] = await unfinishedPayments()
    return {
      name: 'details',
      notice: open ? undefined : t`Not found in this browser.`,
    }
  } catch {
    return { name: 'details', notice: t`Not opened. Reload the page.` }
  }
}

/** Payments of this browser that are under way, or that their payer still has to confirm: nobody should pay them a second time by accident. */
function Unfinished() {
  const { t } = useLingui()
  const [entries, setEntries] = useState<readonly JournalEntry[]>([])
  const [unconfirmed, setUnconfirmed] = useState<readonly JournalEntry[]>([])
  useEffect(
    () =>
      whenIdle(() => {
        const runs = loadRuns()
        runs.then((module) => module.unfinishedPayments()).then(setEntries, () => setEntries([]))
        runs
          .then((module) => module.unconfirmedPayments())
          .then(setUnconfirmed, () => setUnconfirmed([]))
      }),
    [],
  )

  const open = [
    ...entries.map((entry) => ({ ...entry, title: t`A payment is still open` })),
    ...unconfirmed.map((entry) => ({ ...entry, title: t`Confirm this payment is yours` })),
  ]
  return open.map(({ id, state, title }) => (
    <Banner
      action={
        <Link className={buttonClass({ size: 'sm' })} replace to={pathToRun(state.order)}>
          <Trans>Continue</Trans>
        </Link>
      }
      className="mb-4"
      key={id}
      title={title}
      tone="warn"
    >
      <Trans>
        <Amount
          atomic={state.order.amountAtomic}
          decimals={state.order.asset.decimals}
          exact
          symbol={state.order.asset.symbol}
        />{' '}
        to <Address value={state.order.recipient} />
      </Trans>
    </Banner>
  ))
}
