import type { WalletReply } from './control.ts'

export type EthereumPageOptions = {
  binding: string
  uuid: string
  name: string
  rdns: string
  icon: string
}

/** Runs in the page before any of its scripts: announces an EIP-6963 provider whose every request is answered outside the page. */
export function announceEthereumWallet(options: EthereumPageOptions): void {
  type Listener = (payload: unknown) => void
  const listeners = new Map<string, Set<Listener>>()
  const answer = (
    window as unknown as Record<string, (method: string, params: unknown) => Promise<WalletReply>>
  )[options.binding]
  const provider = {
    isMetaMask: true,
    request: async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
      const reply = await answer?.(method, params)
      if (!reply) throw new Error('The wallet is gone.')
      if ('error' in reply)
        throw Object.assign(new Error(reply.error.message), {
          code: reply.error.code,
          data: reply.error.data,
        })
      return reply.result
    },
    on: (event: string, listener: Listener) => {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener))
      return provider
    },
    removeListener: (event: string, listener: Listener) => {
      listeners.get(event)?.delete(listener)
      return provider
    },
  }
  const emit = (event: string, payload: unknown) =>
    listeners.get(event)?.forEach((listener) => listener(payload))
  Object.assign(window, { [`${options.binding}Emit`]: emit })

  const info = Object.freeze({
    uuid: options.uuid,
    name: options.name,
    rdns: options.rdns,
    icon: options.icon,
  })
  const announce = () =>
    window.dispatchEvent(
      new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }),
    )
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
}
