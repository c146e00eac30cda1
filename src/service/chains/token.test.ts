import { readFileSync } from 'node:fs'
import { Keypair, PublicKey } from '@solana/web3.js'
import * as v from 'valibot'
import {
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  parseAbi,
  type Hex,
} from 'viem'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { usdCoin, wrappedEther } from '#devnet/tokens/evm.ts'
import {
  startEvm,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from '#testing/local-chains.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Context } from '../context/context.ts'
import { buildTransaction } from '../payments/build.ts'
import { readTokenInfo } from '../payments/token-info.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
const METAPLEX_PROGRAM = new PublicKey('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')

let evm: EvmFixture
let solana: SolanaFixture
let opened: OpenedContext
let context: Context

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  solana = await startSolana({ slotTimeMs: 100 })
  opened = await openContext([evm.network, solana.network])
  context = opened.context
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await Promise.all([evm[Symbol.asyncDispose](), solana[Symbol.asyncDispose]()])
})

afterEach(() => void vi.unstubAllGlobals())

const read = (address: string, network?: string) => readTokenInfo(context, { address, network })

async function deploy(data: Hex): Promise<string> {
  const account = await evm.wallet(10n ** 18n)
  const serializedTransaction = await account.signTransaction({
    type: 'eip1559',
    chainId: 31337,
    nonce: 0,
    gas: 3_000_000n,
    maxFeePerGas: 10n ** 10n,
    data,
  })
  const hash = await evm.client.sendRawTransaction({ serializedTransaction })
  await evm.mine()
  const { contractAddress } = await evm.client.getTransactionReceipt({ hash })
  return contractAddress ? getAddress(contractAddress) : expect.fail('no contract')
}

test('an ERC-20 token with EIP-3009, and one without', async () => {
  const holder = await evm.wallet(0n)
  const abi = parseAbi(['constructor(address holder, uint256 supply)'])
  const usdc = await deploy(
    encodeDeployData({ abi, bytecode: usdCoin.bytecode, args: [holder.address, 123_456_789n] }),
  )
  expect(await read(usdc)).toMatchObject({
    standard: 'erc20',
    name: 'USD Coin',
    symbol: 'USDC',
    decimals: 6,
    totalSupply: '123456789',
    eip3009: true,
    network: 'eip155:31337',
  })
  const weth = await deploy(wrappedEther.bytecode)
  expect(await read(weth)).toMatchObject({
    standard: 'erc20',
    symbol: 'WETH',
    decimals: 18,
    totalSupply: '0',
    eip3009: false,
  })
})

const HOSTILITIES = [
  'ThirtyTwoBytes',
  'Megabyte',
  'Reverts',
  'Loops',
  'HiddenCharacters',
  'Truncated',
  'EmptyProxy',
] as const

async function deployHostile(hostility: (typeof HOSTILITIES)[number]): Promise<string> {
  const source: unknown = JSON.parse(
    readFileSync(new URL('../../testing/contracts/HostileToken.json', import.meta.url), 'utf8'),
  )
  const { bytecode } = v.parse(
    v.object({ bytecode: v.custom<Hex>((value) => typeof value === 'string') }),
    source,
  )
  return deploy(
    encodeDeployData({
      abi: parseAbi(['constructor(uint8 hostility)']),
      bytecode,
      args: [HOSTILITIES.indexOf(hostility)],
    }),
  )
}

test.each<[(typeof HOSTILITIES)[number], string | null]>([
  ['ThirtyTwoBytes', 'Maker'],
  ['Megabyte', null],
  ['Reverts', null],
  ['Loops', null],
  ['HiddenCharacters', 'USDCoin'],
  ['Truncated', null],
])('a token whose name is hostile (%s) is told by what is left of it', async (hostility, name) => {
  expect(await read(await deployHostile(hostility))).toMatchObject({
    standard: 'erc20',
    name,
    symbol: name,
    decimals: 6,
    totalSupply: '1000',
    eip3009: false,
  })
})

test('a proxy with nothing behind it is no token', async () => {
  await expect(read(await deployHostile('EmptyProxy'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('an owner’s allowance for Permit2 is told as it is at the moment, off EVM and without an owner not at all', async () => {
  const owner = await evm.wallet(10n ** 18n)
  const abi = parseAbi(['constructor(address holder, uint256 supply)'])
  const usdc = await deploy(
    encodeDeployData({ abi, bytecode: usdCoin.bytecode, args: [owner.address, 5n] }),
  )
  const allowance = async () =>
    (await readTokenInfo(context, { address: usdc, owner: owner.address })).permit2Allowance
  expect((await readTokenInfo(context, { address: usdc })).permit2Allowance).toBeNull()
  expect(await allowance()).toBe('0')
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: ['0x000000000022D473030F116dDEE9F6B43aC78BA3', 77n],
  })
  const signed = await owner.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 100_000n,
    maxFeePerGas: 10n ** 10n,
    to: usdc as Hex,
    data,
  })
  await evm.client.sendRawTransaction({ serializedTransaction: signed })
  await evm.mine()
  expect(await allowance()).toBe('77')
  expect(
    (
      await readTokenInfo(context, {
        address: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
        owner: owner.address,
      })
    ).permit2Allowance,
  ).toBeNull()
  await expect(
    readTokenInfo(context, { address: usdc, owner: '11111111111111111111111111111111' }),
  ).rejects.toMatchObject({
    facts: { details: { owner: 'Expected a wallet of Local EVM.' } },
  })
})

test('what is known of a token is asked of the chain once a minute', async () => {
  const address = await deployHostile('ThirtyTwoBytes')
  expect(await read(address)).toMatchObject({ name: 'Maker' })
  await evm.setCode(address, '0x')
  expect(await read(address)).toMatchObject({ name: 'Maker' })
})

test('native currency has no issuer', async () => {
  expect(await read('0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE')).toMatchObject({
    standard: 'native',
    symbol: 'ETH',
    decimals: 18,
    totalSupply: null,
  })
  expect(await read('11111111111111111111111111111111')).toMatchObject({
    standard: 'native',
    symbol: 'SOL',
    decimals: 9,
  })
})

test('an address without code, a contract that is no token, and a wallet are not found', async () => {
  const contract = (await evm.wallet(0n)).address
  await evm.setCode(contract, '0x00')
  const wallet = await solana.wallet(10n ** 9n)
  for (const address of [
    (await evm.wallet(1n)).address,
    contract,
    wallet.publicKey.toBase58(),
    Keypair.generate().publicKey.toBase58(),
    TOKEN_PROGRAM,
  ]) {
    await expect(read(address)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  }
})

test('an address of one family on a network of the other is a wrong parameter', async () => {
  await expect(read('11111111111111111111111111111111', 'eip155:31337')).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: { details: { network: expect.any(String) } },
  })
})

/** `spl_token::state::Mint` with a mint authority and no freeze authority. */
function mint(authority: PublicKey): Buffer {
  const data = Buffer.alloc(82)
  data.writeUInt32LE(1, 0)
  data.set(authority.toBytes(), 4)
  data.writeBigUInt64LE(2n ** 63n, 36)
  data.writeUInt8(5, 44)
  data.writeUInt8(1, 45)
  return data
}

function borsh(text: string, length = text.length): Buffer {
  const data = Buffer.alloc(4 + length)
  data.writeUInt32LE(length, 0)
  data.write(text, 4)
  return data
}

test('an SPL mint with its Metaplex name', async () => {
  const [address, authority] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  await solana.setAccount(address.toBase58(), {
    lamports: 1_461_600n,
    owner: TOKEN_PROGRAM,
    data: mint(authority).toString('hex'),
  })
  expect(await read(address.toBase58())).toMatchObject({
    standard: 'spl-token',
    name: null,
    decimals: 5,
    totalSupply: (2n ** 63n).toString(),
    mintAuthority: authority.toBase58(),
    freezeAuthority: null,
  })

  const named = Keypair.generate().publicKey
  const [metadata] = PublicKey.findProgramAddressSync(
    [Buffer.from('metadata'), METAPLEX_PROGRAM.toBytes(), named.toBytes()],
    METAPLEX_PROGRAM,
  )
  await solana.setAccount(named.toBase58(), {
    lamports: 1_461_600n,
    owner: TOKEN_PROGRAM,
    data: mint(authority).toString('hex'),
  })
  const data = Buffer.concat([
    Buffer.from([4]),
    Buffer.alloc(64),
    borsh('Local Coin', 32),
    borsh('LOC', 10),
    Buffer.alloc(100),
  ])
  await solana.setAccount(metadata.toBase58(), {
    lamports: 5_616_720n,
    owner: METAPLEX_PROGRAM.toBase58(),
    data: data.toString('hex'),
  })
  expect(await read(named.toBase58())).toMatchObject({
    name: 'Local Coin',
    symbol: 'LOC',
    eip3009: false,
  })
})

test('a Token-2022 mint with its metadata extension; hidden characters are taken out of its name', async () => {
  const address = Keypair.generate().publicKey
  const value = Buffer.concat([
    Buffer.alloc(64),
    borsh('Two\u0000 Coin'),
    borsh('TWO'),
    borsh('https://x.example'),
  ])
  const head = Buffer.alloc(4)
  head.writeUInt16LE(19, 0)
  head.writeUInt16LE(value.length, 2)
  const data = Buffer.concat([mint(address), Buffer.alloc(83), Buffer.from([1]), head, value])
  await solana.setAccount(address.toBase58(), {
    lamports: 5_000_000n,
    owner: TOKEN_2022_PROGRAM,
    data: data.toString('hex'),
  })
  expect(await read(address.toBase58())).toMatchObject({
    standard: 'token-2022',
    name: 'Two Coin',
    symbol: 'TWO',
    decimals: 5,
  })
})

/** Counts the bytes that are read of what nodes answer from now on. */
function countBytes(): { bytes: number } {
  const count = { bytes: 0 }
  const ask = fetch
  vi.stubGlobal('fetch', async (...request: Parameters<typeof fetch>) => {
    const response = await ask(...request)
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        count.bytes += part.length
        controller.enqueue(part)
      },
    })
    return new Response(response.body?.pipeThrough(counting), response)
  })
  return count
}

const MIB = 2 ** 20

test('a large account of Solana costs some KiB, whether it is asked for as a token or as a payer', async () => {
  const [large, payee] = [Keypair.generate().publicKey, await solana.wallet(10n ** 9n)]
  const owner = 'BPFLoaderUpgradeab1e11111111111111111111111'
  await solana.setAccount(large.toBase58(), {
    lamports: 10n ** 11n,
    owner,
    data: '00'.repeat(MIB),
  })
  const count = countBytes()
  await expect(read(large.toBase58())).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(count.bytes).toBeLessThan(20_000)
  const order = {
    walletAddress: large.toBase58(),
    recipientAddress: payee.publicKey.toBase58(),
    amount: '0.1',
  }
  await expect(buildTransaction(context, opened.actor, order)).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
  })
  expect(count.bytes).toBeLessThan(40_000)
})

test('a contract that answers every call with a megabyte is no token, and is not read to its end', async () => {
  const contract = (await evm.wallet(0n)).address
  // Returns 2^20 bytes of zeros.
  await evm.setCode(contract, '0x621000005ff3')
  const count = countBytes()
  await expect(read(contract)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  // Two characters a byte, and six calls.
  expect(count.bytes).toBeLessThan(3 * MIB)
})
