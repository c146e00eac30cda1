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
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import type { Asset } from '#contract/network.ts'
import type { EvmNode } from '../nodes/evm.ts'
import { deployer } from '../nodes/wallets.ts'

/**
 * A price feed for local networks, with the interface of Chainlink's aggregators: `decimals()`, and
 * `latestRoundData()` for any other call. `updatedAt` undefined: as old as the newest block.
 */
export type Aggregator = { answer: bigint; decimals: number; round: bigint; updatedAt?: bigint }

const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0')
/** `PUSH32 value PUSH1 at MSTORE` */
const store = (value: bigint, at: number): string => `7f${word(value)}60${byte(at)}52`
const byte = (value: number): string => value.toString(16).padStart(2, '0')

/** The runtime code of a feed that gives this answer, to be put at an address. */
export function aggregatorCode({ answer, decimals, round, updatedAt }: Aggregator): Hex {
  // `TIMESTAMP PUSH1 at MSTORE` where no time is set.
  const time = (at: number) =>
    updatedAt === undefined ? `4260${byte(at)}52` : store(updatedAt, at)
  const roundData =
    store(round, 0) + store(answer, 32) + time(64) + time(96) + store(round, 128) + '60a06000f3'
  // `PUSH1 0 CALLDATALOAD PUSH1 224 SHR PUSH4 decimals() EQ PUSH2 … JUMPI` is 16 bytes long.
  const head = `60003560e01c63313ce5671461${(16 + roundData.length / 2).toString(16).padStart(4, '0')}57`
  return `0x${head}${roundData}5b${store(BigInt(decimals), 0)}60206000f3`
}

const hex = v.custom<`0x${string}`>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value),
)

/** A contract to deploy: code with constructor. */
const Deployable = v.object({ bytecode: hex })
/** A contract to put at its canonical address: the code as it lies on mainnet. */
const Canonical = v.object({ address: hex, codeHash: hex, runtimeCode: hex })

export const usdCoin = read('UsdCoin', Deployable)
export const wrappedEther = read('WrappedEther', Deployable)
export const permit2 = read('Permit2', Canonical)
export const exactPermit2Proxy = read('ExactPermit2Proxy', Canonical)
export const multicall3 = read('Multicall3', Canonical)

function read<S extends v.GenericSchema>(name: string, schema: S): v.InferOutput<S> {
  return v.parse(
    schema,
    JSON.parse(readFileSync(new URL(`../artifacts/${name}.json`, import.meta.url), 'utf8')),
  )
}

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
