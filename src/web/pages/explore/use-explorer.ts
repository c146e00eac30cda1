import { useLingui } from '@lingui/react/macro'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { untilLetGo } from '../../payment-flow/tab-runs.ts'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.ts'
import { announce } from '../../ui/announce.tsx'
import { openPurchase, startPurchase, type PaymentChoice } from './open-purchase.ts'
import type { Purchase } from './pay/purchase.ts'
import {
  isChallenge,
  readChallenge,
  isSameWay,
  type PaymentChallenge,
  type PaymentOption,
} from './request/challenge.ts'
import type { RequestFields, ResourceRequest } from './request/request.ts'
import { sendRequest, type ResourceResult } from './request/send-request.ts'

export type ExplorerView =
  | { name: 'idle'; notice?: string }
  | { name: 'opening' }
  | { name: 'answer'; request: ResourceRequest; asked: ResourceResult; at: number; notice?: string }
  | { name: 'visit'; visit: Purchase; run: PaymentRun; request: ResourceRequest }

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
  const wanted = search.visit

  useEffect(() => {
    if (!wanted) return
    const gone = new AbortController()
    void open(wanted)
    return () => gone.abort()

    async function open(id: string) {
      const opened = await openPurchase(id)
      if (gone.signal.aborted) return
      if (opened.ok) {
        const { visit, run } = opened
        const { request } = visit
        setFields((old) =>
          old.url ? old : { ...old, method: request.method, url: request.url, via: request.via },
        )
        return setView((old) =>
          old.name === 'visit' && old.visit.id === id
            ? old
            : { name: 'visit', visit, run, request },
        )
      }
      const held = opened.reason === 'held'
      setView({
        name: 'idle',
        notice: held
          ? t`Open in another tab. Continue there, or close it.`
          : t`This browser lacks the request.`,
      })
      if (held && (await untilLetGo(id, gone.signal))) await open(id)
    }
  }, [wanted, t])

  const send = useCallback(
    async (request: ResourceRequest) => {
      const mine = ++turn.current
      setBusy(true)
      navigate(pathTo('explore', { search: { url: request.url } }), { replace: true })
      const asked = await sendRequest(request)
      if (turn.current !== mine) return
      setBusy(false)
      setView({ name: 'answer', request, asked, at: Date.now() })
      const status = asked.kind === 'answered' ? asked.answer.status : null
      announce(status === null ? t`No answer.` : t`The server answered ${status}.`)
    },
    [t],
  )

  const begin = useCallback(async (request: ResourceRequest, choice: PaymentChoice) => {
    const { visit, run } = await startPurchase(request, choice)
    setView({ name: 'visit', visit, run, request })
    navigate(pathTo('explore', { search: { url: request.url, visit: visit.id } }), {
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
      const asked = await sendRequest(from.request)
      const fresh =
        asked.kind === 'answered' && asked.answer.status === 402
          ? readChallenge(asked.answer)
          : undefined
      const same = fresh && isChallenge(fresh) ? findSame(fresh, choice) : undefined
      if (same && !hasRisen(choice.offer, same))
        return await begin(from.request, { ...choice, offer: same })
      const notice = same ? t`Review the new price.` : t`Review the new terms.`
      setView({ name: 'answer', request: from.request, asked, at: Date.now(), notice })
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      setView({ ...from, notice: t`The payment could not start: ${detail}` })
    } finally {
      setBusy(false)
    }
  }

  /** Back to the form; the visit stays in the journal. */
  const startOver = useCallback(() => {
    setView({ name: 'idle' })
    navigate(pathTo('explore', { search: { url: fields.url || undefined } }), { replace: true })
  }, [fields.url])

  return { fields, setFields, view, busy, send, begin, pay, startOver }
}

/** Terms that were read longer ago than this are read again before anything is built on them. */
const FRESH_MS = 30_000

/** The same way to pay among the terms of now. */
function findSame(
  challenge: PaymentChallenge,
  { offer, version }: Pick<PaymentChoice, 'offer' | 'version'>,
): PaymentOption | undefined {
  return challenge.offers.find(
    (each) => version in each.entries && isSameWay(each.terms, offer.terms),
  )
}

function hasRisen(before: PaymentOption, now: PaymentOption): boolean {
  return now.terms.amountAtomic > before.terms.amountAtomic
}
