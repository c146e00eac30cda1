import { t as words } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useCallback, useEffect, useRef, useState } from 'react'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { configQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { errorSentence } from '../../errors/codes.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { breachOf } from '../../payment-flow/form/spending-limit.ts'
import { ReaderError } from '../../locales/reader-error.ts'
import { untilLetGo } from '../../payment-flow/tab-runs.ts'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { announce } from '../../ui/announce.tsx'
import { type Purchase, readPurchase, writePurchase } from './pay/purchase.ts'
import { beginRun, purchaseIntentOf, resumeRun, termsOf, type Payer } from './pay/runs.ts'
import {
  isChallenge,
  readChallenge,
  isSameWay,
  type PaymentChallenge,
  type PaymentOption,
  type Version,
} from './request/challenge.ts'
import type { RequestFields, ResourceRequest } from './request/request.ts'
import { sendRequest, type ResourceResult } from './request/send-request.ts'
import type { Way } from './request/usable.ts'

export type ExplorerView =
  /** `again`: the form replaces what came of a request. */
  | { name: 'idle'; again?: true; notice?: string }
  | { name: 'opening' }
  | {
      name: 'answer'
      request: ResourceRequest
      result: ResourceResult
      at: number
      notice?: string
    }
  | {
      name: 'purchase'
      purchase: Purchase
      run: PaymentRun
      request: ResourceRequest
      notice?: string
    }

/** The request in the form, what came of it, and the payment it led to. */
export function useExplorer() {
  const { t } = useLingui()
  const search = useSearch('explore')
  const [fields, setFields] = useState<RequestFields>({
    method: 'GET',
    url: search.url ?? '',
    headers: '',
    body: '',
    via: 'direct',
  })
  const [view, setView] = useState<ExplorerView>(
    search.visit ? { name: 'opening' } : { name: 'idle' },
  )
  const [busy, setBusy] = useState(false)
  const turn = useRef(0)
  const purchaseId = search.visit

  useEffect(() => {
    if (!purchaseId) return
    const gone = new AbortController()
    void open(purchaseId)
    return () => gone.abort()

    async function open(id: string) {
      const opened = await openPurchase(id)
      if (gone.signal.aborted) return
      if (opened.ok) {
        const { purchase, run } = opened
        const { request } = purchase
        setFields((old) =>
          old.url ? old : { ...old, method: request.method, url: request.url, via: request.via },
        )
        return setView((old) =>
          old.name === 'purchase' && old.purchase.id === id
            ? old
            : { name: 'purchase', purchase, run, request },
        )
      }
      const openElsewhere = opened.reason === 'held'
      setView({
        name: 'idle',
        notice: openElsewhere
          ? t`Open in another tab. Continue there, or close it.`
          : t`Not found in this browser.`,
      })
      if (openElsewhere && (await untilLetGo(id, gone.signal))) await open(id)
    }
  }, [purchaseId, t])

  const send = useCallback(
    async (request: ResourceRequest) => {
      const mine = ++turn.current
      setBusy(true)
      navigate(pathTo('explore', { search: { url: request.url } }), { replace: true })
      const result = await sendRequest(request)
      if (turn.current !== mine) return
      setBusy(false)
      setView({ name: 'answer', request: answeredBy(request, result), result, at: Date.now() })
      const status = result.kind === 'answered' ? result.answer.status : null
      announce(status === null ? t`No answer` : t`The server answered ${status}.`)
    },
    [t],
  )

  const begin = useCallback(async (request: ResourceRequest, choice: PaymentChoice) => {
    const { purchase, run } = await startPurchase(request, choice)
    setView({ name: 'purchase', purchase, run, request })
    navigate(pathTo('explore', { search: { url: request.url, visit: purchase.id } }), {
      replace: true,
    })
    // A permit is built once Permit2 may take what it says.
    if (choice.way !== 'permit') await run.build()
  }, [])

  /** What was offered a while ago is asked for again, so that the price which is reviewed is the price of now. */
  async function pay(from: Extract<ExplorerView, { name: 'answer' }>, choice: PaymentChoice) {
    setBusy(true)
    try {
      if (Date.now() - from.at < FRESH_MS) return await begin(from.request, choice)
      const result = await sendRequest(from.request)
      const request = answeredBy(from.request, result)
      const fresh =
        result.kind === 'answered' && result.answer.status === 402
          ? readChallenge(result.answer)
          : undefined
      const same = fresh && isChallenge(fresh) ? findSame(fresh, choice) : undefined
      const isSameServer = new URL(request.url).origin === new URL(from.request.url).origin
      if (same && isSameServer && !hasRisen(choice.paymentOption, same))
        return await begin(request, { ...choice, paymentOption: same })
      const notice = t`Review the new terms.`
      setView({ name: 'answer', request, result, at: Date.now(), notice })
    } catch (error) {
      setView({ ...from, notice: describeUnbegun(error) })
    } finally {
      setBusy(false)
    }
  }

  /** The same way to pay once more, from another account or by terms that were named later. */
  async function payAgain(
    from: Extract<ExplorerView, { name: 'purchase' }>,
    payer: Payer,
    paymentOption = paymentOptionOf(from.purchase),
  ) {
    const { version, way } = from.purchase
    try {
      await begin(from.request, { paymentOption, version, way, payer })
    } catch (error) {
      setView({ ...from, notice: describeUnbegun(error) })
    }
  }

  /** Back to the form; the purchase stays in the journal. */
  const startOver = useCallback(() => {
    setView({ name: 'idle', again: true })
    navigate(pathTo('explore', { search: { url: fields.url || undefined } }), { replace: true })
  }, [fields.url])

  return { fields, setFields, view, busy, send, pay, payAgain, startOver }
}

/** Why a payment was not begun. */
function describeUnbegun(error: unknown): string {
  const unstored = words`This browser cannot store payments. Nothing was sent.`
  return errorSentence(error, unstored)
}

/** Terms that were read longer ago than this are read again before anything is built on them. */
const FRESH_MS = 30_000

/** A redirection was followed, with nothing but the address: what is paid for is asked of the server that named the price. */
function answeredBy(request: ResourceRequest, result: ResourceResult): ResourceRequest {
  const url = result.kind === 'answered' ? result.answer.url : undefined
  return url === undefined ? request : { ...request, url }
}

/** The same way to pay among the terms of now. */
function findSame(
  challenge: PaymentChallenge,
  { paymentOption, version }: Pick<PaymentChoice, 'paymentOption' | 'version'>,
): PaymentOption | undefined {
  return challenge.offers.find(
    (each) => version in each.entries && isSameWay(each.terms, paymentOption.terms),
  )
}

function hasRisen(before: PaymentOption, now: PaymentOption): boolean {
  return now.terms.amountAtomic > before.terms.amountAtomic
}

/** What a reader chose to pay, in which version, and from where. */
export type PaymentChoice = {
  paymentOption: PaymentOption
  version: Version
  way: Way
  payer: Payer
}

export type Opened = { purchase: Purchase; run: PaymentRun }

/**
 * A new paid request: remembered before its payment is begun.
 * @throws the reason, in words, when it is over a limit of the payer
 */
async function startPurchase(
  request: ResourceRequest,
  { paymentOption, version, way, payer }: PaymentChoice,
): Promise<Opened> {
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = networks.find((each) => each.network === paymentOption.terms.network)
  if (!network) throw new Error(`${paymentOption.terms.network} is not configured.`)
  const now = Date.now()
  const planned: Purchase = {
    id: crypto.randomUUID(),
    revision: 0,
    createdAt: now,
    updatedAt: now,
    request,
    version,
    entry: stringifyJson(paymentOption.entries[version]),
    resource: paymentOption.terms.resource,
    way,
    header: null,
    deliveries: [],
  }
  const order = purchaseIntentOf(planned, network, payer)
  const breach = await breachOf(order)
  if (breach) throw new ReaderError(breach)
  const purchase = await writePurchase(planned)
  return { purchase, run: await beginRun(purchase, order) }
}

/** A request of this browser, with its payment as it stands. */
async function openPurchase(
  id: string,
): Promise<({ ok: true } & Opened) | { ok: false; reason: 'held' | 'unknown' }> {
  const purchase = await readPurchase(id).catch(() => undefined)
  const run = purchase && (await resumeRun(purchase))
  if (run === 'held') return { ok: false, reason: 'held' }
  return purchase && run ? { ok: true, purchase, run } : { ok: false, reason: 'unknown' }
}

function paymentOptionOf(purchase: Purchase): PaymentOption {
  return { terms: termsOf(purchase), entries: { [purchase.version]: parseJson(purchase.entry) } }
}
