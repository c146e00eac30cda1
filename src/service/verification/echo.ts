import { parseAddress } from '#contract/address.ts'
import { amountFact, fact, textFact } from '#contract/facts.ts'
import { findAsset } from '#contract/network.ts'
import type { PaymentPayload } from '#x402/payload.ts'
import type { Requirements, ResourceInfo } from '#x402/requirements.ts'
import type { VerificationReport } from './verification-report.ts'
import type { ExpectedTerms } from './terms.ts'

export type Examination = {
  payment: PaymentPayload
  terms: ExpectedTerms
  report: VerificationReport
}

/** What the payer says it accepted must be what was asked; it decides nothing beyond that. */
export function checkEcho(
  { terms, report }: Examination,
  { requirements, resource }: { requirements: Requirements; resource: ResourceInfo | null },
): void {
  const asset = findAsset(terms.network, requirements.asset)?.address
  report.equal('asset_mismatch', {
    name: 'asset',
    source: 'proof',
    expected: terms.asset.address,
    got: asset ?? requirements.asset,
  })
  report.equal(
    'amount_mismatch',
    {
      name: 'amount',
      source: 'proof',
      expected: terms.amountAtomic.toString(),
      got: requirements.amount,
    },
    (atomic) => amountFact(atomic, terms.asset),
  )
  const payTo = parseAddress(requirements.payTo)
  report.equal('recipient_mismatch', {
    name: 'recipient',
    source: 'proof',
    expected: terms.payTo,
    got: payTo.ok ? payTo.address : requirements.payTo,
  })
  if (terms.resource === null) return
  // A proof for one resource must never buy another.
  report.check('resource_mismatch', {
    name: 'resource',
    source: 'proof',
    ok: resource?.url === terms.resource,
    expected: textFact(terms.resource),
    got: resource?.url === undefined ? fact('nothing') : textFact(resource.url),
  })
  for (const field of ['description', 'mimeType'] as const) {
    const expected = terms.resourceInfo?.[field]
    // Absent and empty are signed alike.
    if (expected)
      report.equal(
        'resource_mismatch',
        { name: field, source: 'proof', expected, got: resource?.[field] ?? '' },
        textFact,
      )
  }
}
