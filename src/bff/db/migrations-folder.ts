import { fileURLToPath } from 'node:url'
import type { RuntimeRights } from '#postgres/runtime-role.ts'

/**
 * What the proxy does with its tables at run time, and all that a separate runtime role may. Links,
 * their keys and notes are never deleted; triggers keep the payments of links, invoices with a
 * number, and what operators signed.
 */
const RIGHTS: RuntimeRights = {
  audit_entry: { insert: true, update: ['outcome', 'subject'] },
  balance_alert: {
    insert: true,
    update: ['name', 'threshold', 'set_by', 'set_at'],
    delete: true,
  },
  challenge: { insert: true, delete: true },
  customer_profile: {
    insert: true,
    update: ['name', 'email', 'labels', 'note', 'words', 'updated_by', 'updated_at'],
    delete: true,
  },
  file_presenter: { insert: true, update: ['presenter'], delete: true },
  file_purchase: {
    insert: true,
    update: ['sending_until', 'delivered_at', 'reported_at', 'failed_at', 'downloads'],
  },
  file_sale: {
    insert: true,
    update: [
      'name',
      'file_name',
      'mime_type',
      'size',
      'ranges',
      'source',
      'credential',
      'source_id',
      'content',
      'withdrawn_at',
    ],
    delete: true,
  },
  file_ticket: { insert: true, delete: true },
  hosted_intent: {
    insert: true,
    update: ['state', 'signature_hash', 'taken_at', 'payment_id'],
    delete: true,
  },
  invitation: { insert: true, delete: true },
  invoice: {
    insert: true,
    update: [
      'state',
      'paid',
      'sequence',
      'number',
      'issued_on',
      'due_on',
      'customer_id',
      'customer_removed_at',
      'currency',
      'lines',
      'total',
      'note',
      'link_id',
      'seller',
    ],
    delete: true,
  },
  invoice_customer: { insert: true, update: ['used_at'], delete: true },
  invoice_numbering: { insert: true, update: ['prefix', 'last', 'seller'] },
  link_key: { insert: true },
  link_payment: {
    insert: true,
    update: [
      'session_id',
      'payment_id',
      'sender',
      'presenter',
      'status',
      'arrival',
      'refunded',
      'surplus',
      'checked_at',
      'lease_until',
      'recorded',
    ],
    delete: true,
  },
  mail_address: {
    insert: true,
    update: [
      'address',
      'language',
      'kinds',
      'code',
      'code_expires_at',
      'code_attempts',
      'confirmed_at',
      'unsubscribe_token',
      'updated_at',
    ],
    delete: true,
  },
  mail_cursor: { insert: true, update: ['position', 'events_at', 'lists_at'] },
  mail_item: { insert: true, update: ['message_id'], delete: true },
  mail_message: {
    insert: true,
    update: ['state', 'attempts', 'next_attempt_at', 'earlier', 'failure'],
    delete: true,
  },
  payment_contact: { insert: true, update: ['kept'], delete: true },
  payment_link: { insert: true, update: ['withdrawn_at'] },
  payment_note: {
    insert: true,
    update: ['labels', 'note', 'reconciled_at', 'updated_by', 'updated_at'],
  },
  postgres_timeline: { insert: true, update: ['timeline'], delete: true },
  product: { insert: true, update: ['name', 'description', 'price', 'image_id', 'archived_at'] },
  product_image: { insert: true },
  session: {
    insert: true,
    update: ['cookie_hash', 'wallets', 'idle_at', 'expires_at'],
    delete: true,
  },
  session_payment: { insert: true },
  wallet_role: { insert: true, update: ['role', 'given_by', 'given_at'], delete: true },
}

/** What a program that opens the proxy's database hands to `openDatabase`. */
export const BFF_SCHEMA = {
  migrations: fileURLToPath(new URL('migrations', import.meta.url)),
  schema: 'bff',
  rights: RIGHTS,
}
