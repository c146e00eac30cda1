import { aggregatorCode } from './aggregator.ts'
import {
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getContractAddress,
  parseAbi,
  parseEther,
  parseGwei,
  parseUnits,
  type Address,
  type Hex,
} from 'viem'
import type { Asset } from '#contract/network.ts'
import { exactPermit2Proxy, multicall3, permit2, usdCoin, wrappedEther } from '../artifacts/load.ts'
import type { EvmNode } from '../nodes/evm.ts'
import { deployer } from '../nodes/wallets.ts'

const owner = deployer().evm

/** The addresses follow from the deployer and its first two nonces: the same on every devnet. */
export const EVM_TOKENS = {
  USDC: {
    address: getContractAddress({ from: owner.address, nonce: 0n }),
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    native: false,
  },
  WETH: {
    address: getContractAddress({ from: owner.address, nonce: 1n }),
    symbol: 'WETH',
    name: 'Wrapped Ether',
    decimals: 18,
    native: false,
  },
} as const satisfies Record<string, Asset>

/** Of the EIP-712 domain that its authorizations are signed in (`UsdCoin.sol`). */
export const USDC_DOMAIN_VERSION = '2'

const USDC_SUPPLY = parseUnits('1000000000', 6)
const USDC_EACH = parseUnits('10000', 6)
const WETH_EACH = parseEther('10')

const DEPLOY_GAS = 2_500_000n
const CALL_GAS = 150_000n
const FEES = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }

const constructorAbi = parseAbi(['constructor(address holder, uint256 supply)'])
const depositAbi = parseAbi(['function deposit() payable'])

/** Price feeds against USD with the interface of Chainlink's, as old as the newest block; 8 decimals. */
export const EVM_FEEDS = {
  ETH: { address: '0x00000000000000000000000000000000feed0001', answer: 312_045_000_000n },
  SOL: { address: '0x00000000000000000000000000000000feed0002', answer: 14_512_000_000n },
  USDC: { address: '0x00000000000000000000000000000000feed0003', answer: 99_990_000n },
  EUR: { address: '0x00000000000000000000000000000000feed0004', answer: 108_400_000n },
} as const satisfies Record<string, { address: Address; answer: bigint }>

/** Deploys the tokens of the local EVM chain and gives each holder some. Does nothing on a chain that has them. */
export async function deployEvmTokens(node: EvmNode, holders: readonly Address[]): Promise<void> {
  const { client } = node
  await client.setCode({ address: permit2.address, bytecode: permit2.runtimeCode })
  await client.setCode({
    address: exactPermit2Proxy.address,
    bytecode: exactPermit2Proxy.runtimeCode,
  })
  await client.setCode({ address: multicall3.address, bytecode: multicall3.runtimeCode })
  for (const { address, answer } of Object.values(EVM_FEEDS))
    await client.setCode({ address, bytecode: aggregatorCode({ answer, decimals: 8, round: 1n }) })
  if ((await client.getTransactionCount({ address: owner.address })) > 0) return

  const wallet = node.wallet(owner.privateKey)
  const calls: { to?: Address; data: Hex; value?: bigint; gas: bigint }[] = [
    {
      data: encodeDeployData({
        abi: constructorAbi,
        bytecode: usdCoin.bytecode,
        args: [owner.address, USDC_SUPPLY],
      }),
      gas: DEPLOY_GAS,
    },
    { data: wrappedEther.bytecode, gas: DEPLOY_GAS },
    {
      to: EVM_TOKENS.WETH.address,
      data: encodeFunctionData({ abi: depositAbi }),
      value: WETH_EACH * BigInt(holders.length),
      gas: CALL_GAS,
    },
    ...holders.flatMap((holder) => [
      { to: EVM_TOKENS.USDC.address, data: transferData(holder, USDC_EACH), gas: CALL_GAS },
      { to: EVM_TOKENS.WETH.address, data: transferData(holder, WETH_EACH), gas: CALL_GAS },
    ]),
  ]
  const hashes: Hex[] = []
  // Nonces order them, so one block can hold them all; nothing has to be asked of a chain that does not have the tokens yet.
  for (const [nonce, call] of calls.entries())
    hashes.push(await wallet.sendTransaction({ ...call, ...FEES, nonce }))
  await client.mine({ blocks: 1 })
  for (const hash of hashes) {
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success')
      throw new Error(`The devnet's tokens could not be deployed: ${hash} reverted.`)
  }
}

function transferData(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
}
