import { eq } from 'drizzle-orm'
import { afterAll, beforeAll } from 'vitest'
import type { Observation } from '#service/chains/chain.ts'
import { consumeClaim, takeClaim } from '#service/db/claims.ts'
import {
  findPayment,
  readEvents,
  type NewPayment,
  type PaymentRecord,
} from '#service/db/payments.ts'
import { event, unmatchedTransfer } from '#service/db/schema/payment.ts'
import { claim } from '#service/db/schema/proof.ts'
import { insertUnmatched } from '#service/db/unmatched.ts'
import { applyObservation, type SeenPayment } from '#service/payments/apply-observation.ts'
import type { LandedObservation } from '#service/verification/validate-transfer.ts'
import { openLedger, transferOf, type LedgerFixture } from './ledger-fixture.ts'

export const NOW = new Date('2026-03-01T12:00:00.000Z')
export const BLOCK_TIME = new Date('2026-03-01T11:59:58.000Z')
export const HEIGHT = 101

export const landed = (
  row: PaymentRecord,
  facts: Partial<LandedObservation> = {},
): LandedObservation => ({
  state: 'landed',
  succeeded: true,
  height: HEIGHT,
  blockHash: '0xblock',
  confirmed: true,
  finalized: false,
  feeAtomic: 21n,
  feePayer: row.sender,
  blockTime: BLOCK_TIME,
  transfer: transferOf(row),
  failure: null,
  ...facts,
})
export const pending = (row: PaymentRecord): Observation => ({
  state: 'pending',
  transfer: transferOf(row),
})
export const unconfirmed = { confirmed: false }
export const final = { finalized: true }
export const failed = { succeeded: false, failure: 'reverted' }

/** Payments of a test file, what is observed of them, and their rows afterwards. No chain is asked. */
export function observationFixture() {
  let opened: LedgerFixture
  beforeAll(async () => {
    opened = await openLedger()
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())
  const ledger = () => opened
  const context = () => ({ db: opened.db, now: () => NOW })
  return {
    ledger,
    context,
    /** An order whose sender has signed in: that is evidence enough. */
    addOrder: (row: Partial<NewPayment> = {}) => opened.add({ senderVerified: true, ...row }),
    addReceived: (row: Partial<NewPayment> = {}) => opened.add({ mode: 'received', ...row }),
    apply: (
      row: PaymentRecord,
      observation: Observation,
      seen: Partial<SeenPayment> & { signature: string },
    ) =>
      applyObservation(context(), { paymentId: row.id, observation, source: 'watcher', ...seen }),
    async read(id: string): Promise<PaymentRecord> {
      const row = await findPayment(opened.db, id)
      if (!row) throw new Error('Expected a payment.')
      return row
    },
    eventsOf: (id: string) =>
      opened.db.select().from(event).where(eq(event.paymentId, id)).orderBy(event.id),
    statusesOf: async (id: string) => (await readEvents(opened.db, id)).map(({ status }) => status),
    claimsOf: (signature: string) =>
      opened.db
        .select()
        .from(claim)
        .where(eq(claim.key, `txid:${signature}`)),
    /** A proof of a payment has used the transfer up, or what the key names. */
    async useUp(signature: string, id: string, key = `txid:${signature}`): Promise<void> {
      const { db, accountId } = opened
      const claimant = { scope: accountId, accountId, exclusive: false, fingerprint: 'f' }
      const taken = await takeClaim(db, { network: 'eip155:31337', key, ...claimant })
      if (!taken.taken) throw new Error('Expected a new transfer.')
      const facts = { paymentId: id, fingerprint: 'f', checks: '[]', transaction: null }
      await consumeClaim(db, taken.lease, facts)
    },
    /** The transfer that pays a payment, as unmatched money of its account; with a key, what one authorization of its transaction moved. */
    async addUnmatched(row: PaymentRecord, signature: string, key = ''): Promise<void> {
      const { accountId, network, sender, recipient, asset, symbol, decimals, amount } = row
      const terms = { sender, recipient, asset, symbol, decimals, amount, authorizationKey: key }
      await insertUnmatched(opened.db, {
        accountId,
        network,
        signature,
        ...terms,
        blockHeight: HEIGHT,
      })
    },
    unmatchedOf: async (signature: string) =>
      (
        await opened.db
          .select()
          .from(unmatchedTransfer)
          .where(eq(unmatchedTransfer.signature, signature))
      )[0],
  }
}
