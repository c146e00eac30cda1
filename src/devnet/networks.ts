import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET, type Network } from '#contract/network.ts'
import { EVM_CHAIN_ID } from './nodes/evm.ts'
import { GENESIS_HASH } from './nodes/solana/method-overrides.ts'
import { EVM_TOKENS } from './tokens/evm.ts'
import { SOLANA_TOKENS } from './tokens/solana.ts'

export type ChainFacts = {
  evm: { rpcUrl: string; blockTimeSeconds: number }
  solana: { rpcUrl: string; wsUrl: string; slotTimeMs: number }
}

const EVM_CONFIRMATIONS = 2

/** The two local chains, as every program is configured for them. */
export function localNetworks({ evm, solana }: ChainFacts): Network[] {
  return [
    {
      network: `eip155:${EVM_CHAIN_ID}`,
      name: 'Local Ethereum',
      rpcUrls: [evm.rpcUrl],
      publicRpcUrls: [evm.rpcUrl],
      testnet: true,
      blockTimeMs: Math.max(1, Math.round(evm.blockTimeSeconds * 1000)),
      confirmations: EVM_CONFIRMATIONS,
      assets: [NATIVE_ETH, ...Object.values(EVM_TOKENS)],
    },
    {
      network: SOLANA_DEVNET,
      name: 'Local Solana',
      rpcUrls: [solana.rpcUrl],
      publicRpcUrls: [solana.rpcUrl],
      wsUrl: solana.wsUrl,
      testnet: true,
      blockTimeMs: solana.slotTimeMs,
      confirmations: 1,
      assets: [NATIVE_SOL, ...Object.values(SOLANA_TOKENS)],
      genesisHash: GENESIS_HASH,
    },
  ]
}
