import { parseJson, stringifyJson } from '#contract/json.ts'
import { configQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import type { PaymentOption, Version } from './request/challenge.ts'
import { beginRun, intentOf, resumeRun, termsOf, type Payer } from './pay/runs.ts'
import type { Purchase } from './pay/purchase.ts'
import { readPurchase, writePurchase } from './pay/purchases.ts'
import type { ResourceRequest } from './request/request.ts'
import type { Way } from './request/usable.ts'

/** What a reader chose to pay, in which version, and from where. */
export type PaymentChoice = { offer: PaymentOption; version: Version; way: Way; payer: Payer }

export type Opened = { visit: Purchase; run: PaymentRun }

/** A new paid request: remembered before its payment is begun. */
export async function startPurchase(
  request: ResourceRequest,
  { offer, version, way, payer }: PaymentChoice,
): Promise<Opened> {
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = networks.find((each) => each.network === offer.terms.network)
  if (!network) throw new Error(`${offer.terms.network} is not configured.`)
  const now = Date.now()
  const visit = await writePurchase({
    id: crypto.randomUUID(),
    revision: 0,
    createdAt: now,
    updatedAt: now,
    request,
    version,
    entry: stringifyJson(offer.entries[version]),
    resource: offer.terms.resource,
    way,
    header: null,
    deliveries: [],
  })
  return { visit, run: await beginRun(visit, intentOf(visit, network, payer)) }
}

/** A request of this browser, with its payment as it stands. */
export async function openPurchase(
  id: string,
): Promise<({ ok: true } & Opened) | { ok: false; reason: 'held' | 'unknown' }> {
  const visit = await readPurchase(id).catch(() => undefined)
  const run = visit && (await resumeRun(visit))
  if (run === 'held') return { ok: false, reason: 'held' }
  return visit && run ? { ok: true, visit, run } : { ok: false, reason: 'unknown' }
}

/** The same way to pay once more, from another account or by terms that were named later. */
export function repeatedChoice(
  visit: Purchase,
  payer: Payer,
  offer: PaymentOption = offerOf(visit),
): PaymentChoice {
  return { offer, version: visit.version, way: visit.way, payer }
}

function offerOf(visit: Purchase): PaymentOption {
  return { terms: termsOf(visit), entries: { [visit.version]: parseJson(visit.entry) } }
}
