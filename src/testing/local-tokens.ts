import { readFileSync } from 'node:fs'
import { Keypair, PublicKey } from '@solana/web3.js'
import * as v from 'valibot'
import {
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  parseAbi,
  type Address,
  type Hex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Asset } from '#contract/network.ts'
import { usdCoin } from '#devnet/tokens/evm.ts'
import type { EvmFixture, SolanaFixture } from './local-chains.ts'
import { accountOf, TOKEN } from './token-instructions.ts'

/** Real tokens on the real nodes of the tests: honest ones, and ones with an oddity. */

/** The order of the contract's own list. */
export const ODDITIES = [
  'None',
  'KeepsAPart',
  'KeepsAPartSecretly',
  'ReturnsFalse',
  'ReturnsNothing',
  'BlocksRecipient',
  'PaysInterest',
] as const
export type Oddity = (typeof ODDITIES)[number]

const OddToken = v.parse(
  v.object({
    bytecode: v.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]+$/.test(value)),
  }),
  JSON.parse(readFileSync(new URL('contracts/OddToken.json', import.meta.url), 'utf8')),
)
const oddAbi = parseAbi([
  'constructor(uint8 oddity, uint8 decimals, address holder, uint256 supply)',
])
const usdcAbi = parseAbi(['constructor(address holder, uint256 supply)'])

export type Issue = { holder: string; supply: bigint }

/** The devnet's USDC: six decimals, everything in the hands of the holder. */
export async function issueUsdc(evm: EvmFixture, { holder, supply }: Issue): Promise<Asset> {
  const data = encodeDeployData({
    abi: usdcAbi,
    bytecode: usdCoin.bytecode,
    args: [holder as Address, supply],
  })
  return {
    address: await deploy(evm, data),
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    native: false,
  }
}

export async function issueOddToken(
  evm: EvmFixture,
  oddity: Oddity,
  { holder, supply }: Issue,
): Promise<Asset> {
  const args = [ODDITIES.indexOf(oddity), 6, holder as Address, supply] as const
  const data = encodeDeployData({ abi: oddAbi, bytecode: OddToken.bytecode, args })
  return {
    address: await deploy(evm, data),
    symbol: `ODD${ODDITIES.indexOf(oddity)}`,
    name: 'Odd Token',
    decimals: 6,
    native: false,
  }
}

/** Deploys a contract from a new account and mines it. */
export async function deploy(evm: EvmFixture, data: Hex): Promise<string> {
  const account = privateKeyToAccount(generatePrivateKey())
  await evm.client.setBalance({ address: account.address, value: 10n ** 18n })
  const signed = await account.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 4_000_000n,
    maxFeePerGas: 10n ** 10n,
    data,
  })
  const hash = await evm.client.sendRawTransaction({ serializedTransaction: signed })
  await evm.mine()
  const { contractAddress } = await evm.client.getTransactionReceipt({ hash })
  if (!contractAddress) throw new Error('The contract was not deployed.')
  return getAddress(contractAddress)
}

export function balanceOnEvm(evm: EvmFixture, token: Asset, owner: string): Promise<bigint> {
  return evm.client.readContract({
    address: token.address as Address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [owner as Address],
  })
}

/** Calldata of a plain transfer. */
export function transferData(to: string, amount: bigint): Hex {
  return encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to as Address, amount],
  })
}

const RENT = { mint: 1_461_600n, account: 2_039_280n } as const

export type MintOptions = {
  decimals?: number
  program?: PublicKey
  /** Behind the mint, as Token-2022 writes them. */ extensions?: readonly TestExtension[]
  /** One that is there already, and is written again. */
  at?: PublicKey
}
export type TestExtension = { type: number; value: Uint8Array }

/** A mint of our own under either token program, put onto the local chain as it is. */
export async function createMint(
  solana: SolanaFixture,
  {
    decimals = 6,
    program = TOKEN,
    extensions = [],
    at: mint = Keypair.generate().publicKey,
  }: MintOptions = {},
): Promise<Asset> {
  const data = Buffer.concat([
    mintData(decimals),
    ...(extensions.length > 0
      ? [Buffer.alloc(83), Buffer.from([1]), ...extensions.map(writeExtension)]
      : []),
  ])
  await solana.setAccount(mint.toBase58(), {
    lamports: RENT.mint * 4n,
    owner: program.toBase58(),
    data: data.toString('hex'),
  })
  return { address: mint.toBase58(), symbol: 'USDC', name: 'USD Coin', decimals, native: false }
}

/** The extension of a mint of Token-2022 that keeps so much of every transfer. */
export function transferFee(basisPoints: number): TestExtension {
  const value = Buffer.alloc(108)
  for (const at of [72, 90]) {
    value.writeBigUInt64LE(2n ** 64n - 1n, at + 8)
    value.writeUInt16LE(basisPoints, at + 16)
  }
  return { type: 1, value }
}

/** `spl_token::state::Mint` without authorities. */
function mintData(decimals: number): Buffer {
  const data = Buffer.alloc(82)
  data.writeBigUInt64LE(10n ** 15n, 36)
  data.writeUInt8(decimals, 44)
  data.writeUInt8(1, 45)
  return data
}

function writeExtension({ type, value }: TestExtension): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16LE(type, 0)
  head.writeUInt16LE(value.length, 2)
  return Buffer.concat([head, value])
}

export type MintedHolding = {
  owner: PublicKey
  amount: bigint
  program?: PublicKey
  /** 2: the issuer has frozen it. */
  state?: 1 | 2
  /** Whose the account says it is, when it was given away. */
  given?: PublicKey
  extensions?: readonly TestExtension[]
}

/** Puts tokens into an owner's associated account. */
export async function give(
  solana: SolanaFixture,
  asset: Asset,
  { owner, amount, program = TOKEN, state = 1, given = owner, extensions = [] }: MintedHolding,
): Promise<PublicKey> {
  const mint = new PublicKey(asset.address)
  const account = accountOf(owner, mint, program)
  const data = Buffer.alloc(165)
  data.set(mint.toBytes(), 0)
  data.set(given.toBytes(), 32)
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(state, 108)
  const tail = extensions.length > 0 ? [Buffer.from([2]), ...extensions.map(writeExtension)] : []
  const bytes = Buffer.concat([data, ...tail])
  await solana.setAccount(account.toBase58(), {
    lamports: RENT.account * 2n,
    owner: program.toBase58(),
    data: bytes.toString('hex'),
  })
  return account
}

export async function balanceOnSolana(solana: SolanaFixture, account: PublicKey): Promise<bigint> {
  const info = await solana.connection.getAccountInfo(account, 'confirmed')
  return info ? info.data.readBigUInt64LE(64) : 0n
}
