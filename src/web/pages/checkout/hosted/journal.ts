import { openDB, type DBSchema, type IDBPDatabase } from 'idb'
import type { HostedIntent } from '#contract/hosted-intent.ts'

/** A request that may have reached the proxy and has no certain answer yet: after a reload the same one is sent again, never another. */
export type OpenSend = { nonce: string; intent: HostedIntent; signature: string }

interface Schema extends DBSchema {
  sends: { key: string; value: OpenSend }
}

let opened: Promise<IDBPDatabase<Schema>> | undefined

function open(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>('paydesk-hosted', 1, {
    upgrade: (database) => void database.createObjectStore('sends', { keyPath: 'nonce' }),
  })
  opened.catch(() => (opened = undefined))
  return opened
}

/** Durably, before the request leaves. */
export async function persistSend(send: OpenSend): Promise<void> {
  const transaction = (await open()).transaction('sends', 'readwrite', { durability: 'strict' })
  await transaction.store.put(send)
  await transaction.done
}

export async function forgetSend(nonce: string): Promise<void> {
  await (await open()).delete('sends', nonce)
}

export async function openSends(): Promise<OpenSend[]> {
  return (await open()).getAll('sends')
}
