/**
 * I7: one signature request at a time per wallet, across tabs; and one tab at a time that moves a payment on.
 * Web Locks hold the lock and free it when a tab dies; the channel only tells the other tabs to look again.
 */
export interface Locks {
  /** Runs `work` while holding the lock; `undefined` at once when another tab holds it. */
  attempt<T>(
    name: string,
    work: () => Promise<T>,
  ): Promise<{ acquired: true; value: T } | { acquired: false }>
  /** Resolves once no tab holds the lock: true, or false when `signal` was aborted before. */
  untilFree(name: string, signal: AbortSignal): Promise<boolean>
  /** Tells the other tabs that a payment changed. */
  announce(paymentId: string): void
  /** Called with the id of a payment that another tab changed. Returns the way to stop. */
  listen(on: (paymentId: string) => void): () => void
}

const CHANNEL = 'paydesk-payments'

export function walletLock(family: string, walletName: string): string {
  return `paydesk-wallet:${family}:${walletName}`
}

export function paymentLock(id: string): string {
  return `paydesk-payment:${id}`
}

/** Held while a payment takes a transaction that its wallet did not name. */
export const TAKING_LOCK = 'paydesk-taking-transaction'

/** Locks over the browser's own Web Locks and BroadcastChannel. Both need a secure context or localhost. */
export function browserLocks(manager: Pick<LockManager, 'request'> = navigator.locks): Locks {
  const channel = new BroadcastChannel(CHANNEL)
  return {
    attempt: (name, work) =>
      manager.request(name, { ifAvailable: true }, async (lock) =>
        lock ? { acquired: true as const, value: await work() } : { acquired: false as const },
      ),
    untilFree: (name, signal) =>
      manager
        .request(name, { signal }, () => true)
        .catch((error: unknown) => {
          if (signal.aborted) return false
          throw error
        }),
    announce: (paymentId) => channel.postMessage(paymentId),
    listen: (on) => {
      const heard = (event: MessageEvent) => on(String(event.data))
      channel.addEventListener('message', heard)
      return () => channel.removeEventListener('message', heard)
    },
  }
}
