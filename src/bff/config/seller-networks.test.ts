import { expect, test } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET, type Network } from '#contract/network.ts'
import { OFFLINE_NETWORKS } from '#testing/fixture.ts'
import { sellerNetworks } from './seller-networks.ts'

const EVM_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SOLANA_WALLET = 'CqMbDQpQ5mYhQkJ8ZQyqv5nq8Kq8vYv5JH4m5Xw1Nb1k'
const sellerWallets = [EVM_WALLET, SOLANA_WALLET]
const [offline] = OFFLINE_NETWORKS

function network(id: string, testnet: boolean): Network {
  if (!offline) throw new Error('There is no network to copy.')
  const assets = [id.startsWith('solana:') ? NATIVE_SOL : NATIVE_ETH]
  return { ...offline, network: id, testnet, assets }
}

const base = network('eip155:8453', false)
const sepolia = network('eip155:84532', true)
const devnet = network(SOLANA_DEVNET, true)

test('the coins of a test network pay no price where a main network is configured', () => {
  expect(sellerNetworks({ networks: [sepolia, base, devnet], sellerWallets })).toEqual([
    { network: base, recipient: EVM_WALLET },
  ])
})

test('where all networks are test networks, each with a wallet of the seller is paid on', () => {
  expect(sellerNetworks({ networks: [sepolia, devnet], sellerWallets })).toEqual([
    { network: sepolia, recipient: EVM_WALLET },
    { network: devnet, recipient: SOLANA_WALLET },
  ])
  expect(sellerNetworks({ networks: [devnet], sellerWallets: [EVM_WALLET] })).toEqual([])
})
