import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256, parseAbi, parseEther, toHex, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { multicall3, permit2, deployEvmTokens, EVM_TOKENS } from '../tokens/evm.ts'
import { EVM_CHAIN_ID, EvmNode } from './evm.ts'
import { freePort } from '../options.ts'
import { deployer, devnetWallets } from './wallets.ts'

const { buyer, seller } = devnetWallets()
const said: string[] = []
let dir: string
let port: number
let node: EvmNode

const start = () =>
  EvmNode.start({ dir, port, blockTimeSeconds: 0.1, print: (line) => said.push(line) })

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'paydesk-evm-'))
  port = await freePort()
  node = await start()
  await deployEvmTokens(node, [buyer.evm.address])
})

afterAll(async () => {
  await node[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

const usdcAbi = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function authorizationState(address, bytes32) view returns (bool)',
  'function nonces(address) view returns (uint256)',
  'function allowance(address, address) view returns (uint256)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])
const domain = {
  name: 'USD Coin',
  version: '2',
  chainId: EVM_CHAIN_ID,
  verifyingContract: EVM_TOKENS.USDC.address,
}
const usdc = { address: EVM_TOKENS.USDC.address, abi: usdcAbi } as const

test('a payment lands and moves exactly its amount', async () => {
  const before = await node.client.getBalance({ address: seller.evm.address })
  const hash = await node
    .wallet(buyer.evm.privateKey)
    .sendTransaction({ to: seller.evm.address, value: parseEther('0.01') })
  expect((await node.client.waitForTransactionReceipt({ hash })).status).toBe('success')
  expect((await node.client.getBalance({ address: seller.evm.address })) - before).toBe(
    parseEther('0.01'),
  )
})

test('Permit2 is the mainnet code, and Multicall3 stands where programs look for it', async () => {
  expect(keccak256((await node.client.getCode({ address: permit2.address })) ?? '0x')).toBe(
    '0xc67d1657868aa5146eaf24fb879fb1fdec3d2d493b3683a61c9c2f4fb2851131',
  )
  expect(await node.client.getCode({ address: multicall3.address })).toBe(multicall3.runtimeCode)
  expect(keccak256(multicall3.runtimeCode)).toBe(multicall3.codeHash)
})

test('the USDC takes an EIP-3009 authorization once, from anybody, and an EIP-2612 permit', async () => {
  const account = privateKeyToAccount(buyer.evm.privateKey)
  const wallet = node.wallet(deployer().evm.privateKey)
  const authorization = {
    from: account.address,
    to: seller.evm.address,
    value: 1_500_000n,
    validAfter: 0n,
    validBefore: 9_999_999_999n,
    nonce: keccak256(toHex('first')),
  }
  const fields = (text: string) =>
    text
      .split(', ')
      .map((field) => ({ type: field.split(' ')[0] ?? '', name: field.split(' ')[1] ?? '' }))
  const signature = await account.signTypedData({
    domain,
    types: {
      TransferWithAuthorization: fields(
        'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce',
      ),
    },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  const hash = await wallet.writeContract({
    ...usdc,
    functionName: 'transferWithAuthorization',
    args,
  })
  expect((await node.client.waitForTransactionReceipt({ hash })).status).toBe('success')
  expect(
    await node.client.readContract({
      ...usdc,
      functionName: 'balanceOf',
      args: [seller.evm.address],
    }),
  ).toBe(1_500_000n)
  await expect(
    wallet.writeContract({ ...usdc, functionName: 'transferWithAuthorization', args }),
  ).rejects.toThrow('revert')

  const permit = {
    owner: account.address,
    spender: seller.evm.address,
    value: 7n,
    nonce: 0n,
    deadline: 9_999_999_999n,
  }
  const types = {
    Permit: fields(
      'address owner, address spender, uint256 value, uint256 nonce, uint256 deadline',
    ),
  }
  const permitSignature = await account.signTypedData({
    domain,
    types,
    primaryType: 'Permit',
    message: permit,
  })
  const [r, s, v]: [Hex, Hex, number] = [
    `0x${permitSignature.slice(2, 66)}`,
    `0x${permitSignature.slice(66, 130)}`,
    Number(`0x${permitSignature.slice(130)}`),
  ]
  const permitHash = await wallet.writeContract({
    ...usdc,
    functionName: 'permit',
    args: [permit.owner, permit.spender, permit.value, permit.deadline, v, r, s],
  })
  expect((await node.client.waitForTransactionReceipt({ hash: permitHash })).status).toBe('success')
  expect(
    await node.client.readContract({
      ...usdc,
      functionName: 'allowance',
      args: [account.address, seller.evm.address],
    }),
  ).toBe(7n)
})

test('a stopped node comes back with its receipts and balances, a killed one by itself', async () => {
  const hash = await node
    .wallet(buyer.evm.privateKey)
    .sendTransaction({ to: seller.evm.address, value: 1n })
  const receipt = await node.client.waitForTransactionReceipt({ hash })
  const balance = await node.client.getBalance({ address: seller.evm.address })
  await node[Symbol.asyncDispose]()
  node = await start()
  expect(node.fresh).toBe(false)
  expect((await node.client.getTransactionReceipt({ hash })).blockHash).toBe(receipt.blockHash)
  expect(await node.client.getBalance({ address: seller.evm.address })).toBe(balance)

  await node.kill()
  expect(said).toEqual(['EVM node ended (SIGKILL); starting it again.', 'EVM node is back.'])
  expect(await node.client.getTransactionCount({ address: buyer.evm.address })).toBeGreaterThan(0)
})
