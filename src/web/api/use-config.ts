import { createContext, use } from 'react'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import type { Network } from '#contract/network.ts'

export const ConfigContext = createContext<PublicConfig | undefined>(undefined)

/** The proxy's public configuration. Pages render only once it is known. */
export function useConfig(): PublicConfig {
  const config = use(ConfigContext)
  if (!config) throw new Error('A page was rendered before the configuration was known.')
  return config
}

export function useNetwork(id: string): Network | undefined {
  return useConfig().networks.find((network) => network.network === id)
}
