import { parseJson, stringifyJson } from '#contract/json.ts'
import { configQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import type { Offer, Version } from './request/challenge.ts'
import { beginRun, intentOf, resumeRun, termsOf, type Payer } from './pay/runs.ts'
import type { Visit } from './pay/visit.ts'
import { readVisit, writeVisit } from './pay/visits.ts'
import type { ResourceRequest } from './request/request.ts'
import type { Way } from './request/usable.ts'

/** What a reader chose to pay, in which version, and from where. */
export type Choice = { offer: Offer; version: Version; way: Way; payer: Payer }

export type Opened = { visit: Visit; run: PaymentRun }

/** A new paid request: remembered before its payment is begun. */
export async function startVisit(
  request: ResourceRequest,
  { offer, version, way, payer }: Choice,
): Promise<Opened> {
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = networks.find((each) => each.network === offer.terms.network)
  if (!network) throw new Error(`${offer.terms.network} is not configured.`)
  const now = Date.now()
  const visit = await writeVisit({
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
export async function openVisit(
  id: string,
): Promise<({ ok: true } & Opened) | { ok: false; reason: 'held' | 'unknown' }> {
  const visit = await readVisit(id).catch(() => undefined)
  const run = visit && (await resumeRun(visit))
  if (run === 'held') return { ok: false, reason: 'held' }
  return visit && run ? { ok: true, visit, run } : { ok: false, reason: 'unknown' }
}

/** The same way to pay once more, from another account or by terms that were named later. */
export function choiceAgain(visit: Visit, payer: Payer, offer: Offer = offerOf(visit)): Choice {
  return { offer, version: visit.version, way: visit.way, payer }
}

function offerOf(visit: Visit): Offer {
  return { terms: termsOf(visit), entries: { [visit.version]: parseJson(visit.entry) } }
}
