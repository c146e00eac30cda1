import type { NetworkId } from '#contract/network.ts'

/** `refused`: an HTTP error, such as 429. `failed`: no answer. An error inside JSON-RPC is an answer. */
export type CallOutcome = 'answered' | 'refused' | 'failed'

/** Is told of every HTTP request to an RPC endpoint, and of each head that is read. */
export type ChainObserver = {
  called: (network: NetworkId, outcome: CallOutcome) => void
  sawBlock: (network: NetworkId, height: number) => void
}

export const NO_OBSERVER: ChainObserver = { called: () => {}, sawBlock: () => {} }

/** `fetch`, counted. */
export function observedFetch(network: NetworkId, observer: ChainObserver): typeof fetch {
  return async (input, init) => {
    try {
      const response = await fetch(input, init)
      observer.called(network, response.ok ? 'answered' : 'refused')
      return response
    } catch (error) {
      observer.called(network, 'failed')
      throw error
    }
  }
}
