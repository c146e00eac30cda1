import { fileURLToPath } from 'node:url'
import type { RuntimeRights } from '#postgres/runtime-role.ts'

/**
 * What the service does with its tables at run time, and all that a separate runtime role may. Terms
 * of payments, signed transactions, events and snapshots are never deleted; triggers keep the rows
 * of `claim`, `unmatched_transfer` and `settlement_order` that are part of the ledger. Columns that
 * are not named here keep what was first written.
 */
const RIGHTS: RuntimeRights = {
  account: { insert: true, update: ['plan', 'scopes', 'facilitators'] },
  api_key: {
    insert: true,
    update: ['last_used_at', 'expires_at', 'revoked_at', 'replaced_by'],
  },
  attempt: { insert: true, update: ['broadcast_at'] },
  chain_cursor: { insert: true, update: ['height', 'holder', 'lease_until'] },
  claim: {
    insert: true,
    update: [
      'exclusive',
      'account_id',
      'fingerprint',
      'attempt',
      'granted_call',
      'lease_until',
      'payment_id',
      'checks',
      'transaction',
      'consumed_at',
    ],
    delete: true,
  },
  customer: { insert: true, update: ['payments', 'first_at', 'last_at'], delete: true },
  customer_total: {
    insert: true,
    update: ['symbol', 'payments', 'received', 'refunds', 'refunded'],
    delete: true,
  },
  deployment: { update: ['epoch', 'restored_at'] },
  event: { insert: true, update: ['draft', 'number'] },
  event_numbering: { update: ['last', 'holder', 'lease_until'] },
  idempotency: {
    insert: true,
    update: ['fingerprint', 'status', 'body', 'lease_until', 'created_at'],
    delete: true,
  },
  network_affirmation: { insert: true, update: 'all' },
  postgres_timeline: { insert: true, update: ['timeline'], delete: true },
  payment: {
    insert: true,
    update: [
      'status',
      'direction',
      'draft',
      // Erased in drafts.
      'resource',
      'metadata',
      'unsigned_transaction',
      'nonce',
      'last_valid_block_height',
      'sender_verified',
      'payer_signature',
      'payer_nonce',
      'evidence',
      'signature',
      'reported_signature',
      'block_height',
      'block_hash',
      'block_time',
      'fee',
      'fee_payer',
      'max_fee',
      // Of a refund that was released.
      'expires_at',
      'failure',
      'payment_proof',
      'broadcast_at',
      'confirmed_at',
      'updated_at',
    ],
  },
  payment_change: { insert: true, delete: true },
  payment_identifier: { insert: true, update: 'all', delete: true },
  payment_tally: {
    insert: true,
    update: ['payments', 'amount', 'refunds', 'refunded', 'fees'],
    delete: true,
  },
  refund_request: {
    insert: true,
    update: ['declined_at', 'declined_by', 'decline_note', 'settled_at'],
  },
  refused_payer: { insert: true, update: 'all', delete: true },
  // A request is recorded once, and removed after some days.
  request_log: { insert: true, delete: true },
  reservation: { insert: true, update: ['amount', 'expires_at'], delete: true },
  settlement_fee: { insert: true, update: ['reserved', 'paid'] },
  settlement_order: { insert: true, delete: true },
  socket: { insert: true, update: ['lease_until'], delete: true },
  token_pool: { insert: true, update: 'all', delete: true },
  unmatched_transfer: {
    insert: true,
    update: [
      'block_height',
      'block_hash',
      'block_time',
      'finalized_at',
      'matched_payment_id',
      'assigned_payment_id',
      'assigned_by',
      'assigned_at',
      'assigned_note',
    ],
    delete: true,
  },
  usage: { insert: true, update: ['requests'], delete: true },
  wallet: { insert: true },
  wallet_challenge: { insert: true, delete: true },
  wallet_ledger: { insert: true, update: 'all' },
  wallet_owner: { insert: true, update: ['released_at'] },
  webhook_delivery: {
    insert: true,
    update: [
      'state',
      'attempts',
      'next_attempt_at',
      'retry_until',
      'body',
      'last_attempt_at',
      'duration_ms',
      'response_status',
      'response_body',
      'failure',
    ],
    delete: true,
  },
  webhook_endpoint: {
    insert: true,
    update: ['url', 'events', 'enabled', 'secrets', 'cursor', 'holder', 'lease_until'],
    delete: true,
  },
}

/** What a program that opens the service's database hands to `openDatabase`. */
export const SERVICE_SCHEMA = {
  migrations: fileURLToPath(new URL('migrations', import.meta.url)),
  schema: 'service',
  rights: RIGHTS,
}
