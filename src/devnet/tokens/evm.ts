import { encodeDeployData, erc20Abi, getContractAddress, parseAbi, parseEther, parseUnits, type Address, type Hex } from 'viem'
import type { Asset } from '#contract/network.ts'
import { multicall3, permit2, usdCoin, wrappedEther } from '../artifacts/load.ts'
import type { EvmNode } from '../evm.ts'
import { deployer } from '../wallets.ts'

const owner = deployer().evm

/** The addresses follow from the deployer and its first two nonces: the same on every devnet. */
export const EVM_TOKENS = {
  USDC: { address: getContractAddress({ from: owner.address, nonce: 0n }), symbol: 'USDC', name: 'USD Coin', decimals: 6, native: false },
  WETH: { address: getContractAddress({ from: owner.address, nonce: 1n }), symbol: 'WETH', name: 'Wrapped Ether', decimals: 18, native: false },
} as const satisfies Record<string, Asset>

const USDC_SUPPLY = parseUnits('1000000000', 6)
const USDC_EACH = parseUnits('10000', 6)
const WETH_EACH = parseEther('10')

const constructorAbi = parseAbi(['constructor(address holder, uint256 supply)'])
const depositAbi = parseAbi(['function deposit() payable'])

/** Deploys the tokens of the local EVM chain and gives each holder some. Does nothing on a chain that has them. */
export async function deployEvmTokens(node: EvmNode, holders: readonly Address[]): Promise<void> {
  const { client } = node
  await client.setCode({ address: permit2.address, bytecode: permit2.runtimeCode })
  await client.setCode({ address: multicall3.address, bytecode: multicall3.runtimeCode })
  if ((await client.getTransactionCount({ address: owner.address })) > 0) return

  const wallet = node.wallet(owner.privateKey)
  let nonce = 0
  const hashes: Hex[] = []
  const send = async (call: { to?: Address; data: Hex; value?: bigint }) => {
    hashes.push(await wallet.sendTransaction({ ...call, nonce: nonce++ }))
  }
  await send({ data: encodeDeployData({ abi: constructorAbi, bytecode: usdCoin.bytecode, args: [owner.address, USDC_SUPPLY] }) })
  await send({ data: wrappedEther.bytecode })
  await client.mine({ blocks: 1 })

  const write = { account: wallet.account, chain: wallet.chain }
  hashes.push(await wallet.writeContract({ ...write, address: EVM_TOKENS.WETH.address, abi: depositAbi, functionName: 'deposit', value: WETH_EACH * BigInt(holders.length), nonce: nonce++ }))
  await client.mine({ blocks: 1 })
  for (const holder of holders) {
    for (const [token, amount] of [[EVM_TOKENS.USDC, USDC_EACH], [EVM_TOKENS.WETH, WETH_EACH]] as const) {
      hashes.push(await wallet.writeContract({ ...write, address: token.address, abi: erc20Abi, functionName: 'transfer', args: [holder, amount], nonce: nonce++ }))
    }
  }
  await client.mine({ blocks: 1 })
  for (const hash of hashes) {
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`The devnet's tokens could not be deployed: ${hash} reverted.`)
  }
}
