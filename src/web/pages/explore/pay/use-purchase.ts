import { t } from '@lingui/core/macro'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import * as v from 'valibot'
import { decodeHeader } from '#x402/header.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { errorSentence } from '../../../errors/codes.ts'
import { ReaderError } from '../../../locales/reader-error.ts'
import type { PaymentState } from '../../../payment-flow/machine.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { useRunState } from '../../../payment-flow/steps/use-run.ts'
import { announce } from '../../../ui/announce.tsx'
import { walletProblem } from '../../../wallet/state/errors.ts'
import type { TypedData } from '../../../wallet/state/wallet-adapter.ts'
import { headerOf } from '../request/challenge.ts'
import {
  isSuccess,
  type PaymentHeader,
  sendRequest,
  type ResourceResponse,
  type ResourceResult,
} from '../request/send-request.ts'
import { headerOfProof, nextHeader } from './header.ts'
import {
  addDelivery,
  closeByHand,
  countDeliveries,
  isClosed,
  type Purchase,
  type Delivery,
  writePurchase,
} from './purchase.ts'
import { signProof, termsOf } from './runs.ts'

/** So often a server that says “on its way” is asked by itself; after that the reader decides. */
const MAX_AUTOMATIC_REQUESTS = 30

type Work = 'sending' | 'signing' | 'closing'

export type PurchaseView = {
  purchase: Purchase
  state: PaymentState
  /** The last answer in this tab. */
  delivered: Delivered | undefined
  sending: boolean
  /** The server is asked again without the reader. */
  waits: boolean
  /** What has to be signed to prove the transfer; null while there is nothing to sign. */
  proof: TypedData | null
  signing: boolean
  /** Why the last step could not be done, in words. */
  userError: string | null
  sign: () => void
  /** Sends the request with its one payment, by another way where asked. */
  send: (via?: Purchase['request']['via']) => void
  /** Says by hand that it was delivered, or takes that back. */
  setClosed: (closed: boolean) => void
  /** Waits no longer for the answer. The payment may have been used. */
  stop: () => void
}

/**
 * A purchase that this tab owns: makes the header as soon as the machine has what it takes, keeps it, and only then sends it. A reload
 * finds the header and sends the same one.
 */
export function usePurchase(first: Purchase, run: PaymentRun): PurchaseView {
  const state = useRunState(run)
  const network = useNetwork(state.order.network)
  const [purchase, setPurchase] = useState(first)
  const [delivered, setDelivered] = useState<Delivered>()
  const [working, setWorking] = useState<Work | null>(null)
  const [userError, setUserError] = useState<string | null>(null)
  const busy = useRef(false)
  const stop = useRef<AbortController>(null)
  const terms = useMemo(() => termsOf(first), [first])
  const next = purchase.header ? null : nextHeader(purchase, terms, state)

  /** One piece of work at a time; what it ends with is shown. */
  const work = useCallback(async (kind: Work, task: () => Promise<void>) => {
    if (busy.current) return
    busy.current = true
    setWorking(kind)
    setUserError(null)
    try {
      await task()
    } catch (error) {
      setUserError(errorSentence(error, t`Not saved in this browser. Try again.`))
    } finally {
      busy.current = false
      setWorking(null)
    }
  }, [])

  const sendNow = useCallback(async (from: Purchase) => {
    const controller = new AbortController()
    stop.current = controller
    const result = await deliver(from, { now: Date.now(), stop: controller.signal })
    setDelivered(result)
    setPurchase(await writePurchase(addDelivery(from, result.delivery)))
  }, [])

  /** The header is in the journal before it is anywhere else. */
  const keepAndSend = useCallback(
    async (header: PaymentHeader) => {
      const saved = await writePurchase({ ...purchase, header })
      setPurchase(saved)
      await sendNow(saved)
    },
    [purchase, sendNow],
  )

  const ready = next?.kind === 'ready' ? next.header.value : undefined
  const readyName = next?.kind === 'ready' ? next.header.name : undefined
  useEffect(() => {
    if (!ready || !readyName) return
    const timer = setTimeout(
      () => void work('sending', () => keepAndSend({ name: readyName, value: ready })),
    )
    return () => clearTimeout(timer)
    // The header of a payment is one and the same, however often it is made.
  }, [ready, readyName, work, keepAndSend])

  const waits = delivered?.delivery.outcome === 'pending' && asksByItself(purchase)
  const waitMs =
    waits && delivered?.result.kind === 'answered'
      ? retryAfter(delivered.result.answer) * 1000
      : undefined
  useEffect(() => {
    if (waitMs === undefined) return
    const timer = setTimeout(() => void work('sending', () => sendNow(purchase)), waitMs)
    return () => clearTimeout(timer)
  }, [waitMs, purchase, work, sendNow])

  const { walletName } = state.order
  const sign = () =>
    void work('signing', async () => {
      if (next?.kind !== 'sign' || !network) return
      const signature = await signProof(network, state.order, next.data).catch((error: unknown) => {
        throw walletProblem(error, walletName)
      })
      if (signature === null) throw new ReaderError(t`Answer ${walletName} in the other tab.`)
      await keepAndSend(headerOfProof(purchase, state, signature))
    })

  // The second of the two prompts follows the first by itself; after a reload the payer asks for it.
  const [witnessed] = useState(() => !('sent' in run.state()))
  const due = witnessed && next?.kind === 'sign' && network !== undefined
  const openPrompt = useRef(sign)
  useEffect(() => {
    openPrompt.current = sign
  })
  useEffect(() => {
    if (due) openPrompt.current()
  }, [due])

  return {
    purchase,
    state,
    delivered,
    sending: working === 'sending',
    waits,
    proof: next?.kind === 'sign' ? next.data : null,
    signing: working === 'signing',
    userError,
    sign,
    send: (via) =>
      void work('sending', () =>
        sendNow(via ? { ...purchase, request: { ...purchase.request, via } } : purchase),
      ),
    setClosed: (closed) =>
      void work('closing', async () => {
        setPurchase(await writePurchase(closeByHand(purchase, closed ? Date.now() : null)))
        announce(closed ? t`Delivered or refunded` : t`Not delivered`)
      }),
    stop: () => stop.current?.abort(),
  }
}

/** Whether a server that says “on its way” is asked again without the reader. */
export function asksByItself(purchase: Purchase): boolean {
  return !isClosed(purchase) && countDeliveries(purchase) < MAX_AUTOMATIC_REQUESTS
}

/** What comes of a request that carries the payment. */
type Delivered = {
  result: ResourceResult
  delivery: Delivery
  settlement: SettlementResponse | null
}

/** The server's `PAYMENT-RESPONSE`: a claim, to be looked up on the chain. */
const SettlementResponse = v.object({
  success: v.boolean(),
  errorReason: v.optional(v.pipe(v.string(), v.maxLength(256))),
  transaction: v.optional(v.pipe(v.string(), v.maxLength(128)), ''),
  network: v.optional(v.pipe(v.string(), v.maxLength(64)), ''),
})
type SettlementResponse = v.InferOutput<typeof SettlementResponse>

/** Sends the request with its one payment: the first time and every time after. */
async function deliver(
  purchase: Purchase,
  { now, stop }: { now: number; stop: AbortSignal },
): Promise<Delivered> {
  if (!purchase.header) throw new TypeError('Nothing was paid for this purchase yet.')
  const result = await sendRequest(purchase.request, { payment: purchase.header, stop })
  const settlement = result.kind === 'answered' ? readSettlement(result.answer) : null
  return { result, settlement, delivery: { at: now, ...readDelivery(result, settlement) } }
}

/** What a response is for the payment. */
export function readDelivery(
  result: ResourceResult,
  settlement: SettlementResponse | null,
): Omit<Delivery, 'at'> {
  if (result.kind === 'unanswered') return { status: null, outcome: 'unanswered', reason: null }
  const { status } = result.answer
  const reason = settlement?.errorReason ?? null
  if (status === 402) return { status, outcome: 'refused', reason }
  if (status === 202 && settlement?.success === false) return { status, outcome: 'pending', reason }
  return { status, outcome: isSuccess(status) ? 'served' : 'failed', reason }
}

export function readSettlement(
  answer: Pick<ResourceResponse, 'headers'>,
): SettlementResponse | null {
  const text = headerOf(answer, 'payment-response') ?? headerOf(answer, 'x-payment-response')
  const decoded = text === undefined ? undefined : decodeHeader(text)
  const read = decoded?.ok ? v.safeParse(SettlementResponse, decoded.value) : undefined
  return read?.success ? read.output : null
}

/** Seconds until the server would like to be asked again. */
export function retryAfter(answer: Pick<ResourceResponse, 'headers'>): number {
  const text = headerOf(answer, 'retry-after') ?? ''
  return /^[0-9]{1,3}$/.test(text) ? Math.max(1, Number(text)) : 2
}
