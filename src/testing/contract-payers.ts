import { readFileSync } from 'node:fs'
import { x402Client } from '@x402/core/client'
import {
  concat,
  encodeErrorResult,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  hashTypedData,
  maxUint256,
  numberToHex,
  pad,
  parseAbi,
  parseEventLogs,
  parseSignature,
  size,
  zeroAddress,
  type Hex,
} from 'viem'
import { generatePrivateKey, privateKeyToAddress, type PrivateKeyAccount } from 'viem/accounts'
import * as v from 'valibot'
import type { Asset } from '#contract/network.ts'
import { permit2 } from '#devnet/tokens/evm.ts'
import { createEvmClient } from '#x402/client/evm.ts'
import type { EvmFixture } from './local-chains.ts'
import { sendFrom } from './token-payers.ts'

/**
 * Payers that are contracts: the real Safe, and contracts that answer `isValidSignature` in other
 * ways.
 */

const hex = v.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value))
const Contract = v.object({ address: hex, runtimeCode: hex })
const artifacts = v.parse(
  v.object({ safe: Contract, fallbackHandler: Contract, proxyFactory: Contract }),
  JSON.parse(readFileSync(new URL('contracts/Safe.json', import.meta.url), 'utf8')),
)

const safeAbi = parseAbi([
  'function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
  'function approveHash(bytes32 hash)',
  'function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce) returns (address proxy)',
  'event ProxyCreation(address indexed proxy, address singleton)',
])

export type ContractPayer = { address: Hex; sign: (hash: Hex) => Promise<Hex> }
export type Safe = { address: Hex; owners: readonly PrivateKeyAccount[] }

/** A Safe 1.4.1, created by its own factory at the addresses that it has on every chain. */
export async function deploySafe(
  evm: EvmFixture,
  { owners, threshold }: { owners: number; threshold: number },
): Promise<Safe> {
  for (const { address, runtimeCode } of Object.values(artifacts))
    await evm.setCode(address, runtimeCode)
  const accounts = await Promise.all(Array.from({ length: owners }, () => evm.wallet(10n ** 18n)))
  // A Safe reads the signatures in the order of their owners' addresses.
  const sorted = accounts.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  const [deployer] = sorted
  if (!deployer) throw new Error('A Safe has at least one owner.')
  const { safe, fallbackHandler, proxyFactory } = artifacts
  const addresses = sorted.map(({ address }) => address)
  const setup = [
    addresses,
    BigInt(threshold),
    zeroAddress,
    '0x',
    fallbackHandler.address,
    zeroAddress,
    0n,
    zeroAddress,
  ] as const
  const initializer = encodeFunctionData({ abi: safeAbi, functionName: 'setup', args: setup })
  const data = encodeFunctionData({
    abi: safeAbi,
    functionName: 'createProxyWithNonce',
    args: [safe.address, initializer, BigInt(generatePrivateKey())],
  })
  const hash = await sendFrom(evm, deployer, { to: proxyFactory.address, data })
  const { logs } = await evm.client.getTransactionReceipt({ hash })
  const [created] = parseEventLogs({ abi: safeAbi, eventName: 'ProxyCreation', logs })
  if (!created) throw new Error('The factory made no Safe.')
  return { address: created.args.proxy, owners: sorted }
}

/** What the owners of a Safe sign for `isValidSignature`: the hash as a `SafeMessage`. */
function messageOf(safe: Safe, hash: Hex, chainId = 31_337) {
  return {
    domain: { chainId, verifyingContract: safe.address },
    types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
    primaryType: 'SafeMessage' as const,
    message: { message: hash },
  }
}

/** How an owner of a Safe signs: the byte `v` says which. */
export const OWNER_SIGNATURES = {
  /** v 27 or 28: over the typed data. */
  typed: (owner, safe, hash) => owner.signTypedData(messageOf(safe, hash)),
  /** v 31 or 32: over the digest as a personal message. */
  eth_sign: async (owner, safe, hash) => {
    const signature = await owner.signMessage({
      message: { raw: hashTypedData(messageOf(safe, hash)) },
    })
    const { r, s, v: byte = 27n } = parseSignature(signature)
    return concat([r, s, numberToHex(byte + 4n, { size: 1 })])
  },
} satisfies Record<string, (owner: PrivateKeyAccount, safe: Safe, hash: Hex) => Promise<Hex>>

/** A Safe whose first `threshold` owners sign in this way. */
export function safePayer(
  safe: Safe,
  way: keyof typeof OWNER_SIGNATURES,
  threshold = 1,
): ContractPayer {
  const sign = async (hash: Hex) =>
    concat(
      await Promise.all(
        safe.owners.slice(0, threshold).map((owner) => OWNER_SIGNATURES[way](owner, safe, hash)),
      ),
    )
  return { address: safe.address, sign }
}

/** A Safe whose only owner has approved the hash on chain: 65 bytes of which `v` is 1. */
export function approvingSafePayer(evm: EvmFixture, safe: Safe): ContractPayer {
  const [owner] = safe.owners
  if (!owner) throw new Error('A Safe has at least one owner.')
  const sign = async (hash: Hex) => {
    const data = encodeFunctionData({
      abi: safeAbi,
      functionName: 'approveHash',
      args: [hashTypedData(messageOf(safe, hash))],
    })
    await sendFrom(evm, owner, { to: safe.address, data })
    return concat([pad(owner.address), pad('0x'), '0x01'])
  }
  return { address: safe.address, sign }
}

/** Runtime code of contracts that give the same answer to every call. */
export const ANSWERS = {
  /** `isValidSignature` accepts every signature. */
  valid: '0x631626ba7e60e01b60005260206000f3',
  invalid: '0x60206000f3',
  nothing: '0x00',
  one_byte: '0x60016000f3',
  reverts: '0x60006000fd',
  uses_all_gas: '0x5b600056',
} as const satisfies Record<string, Hex>

/**
 * Runtime code whose `isValidSignature` accepts every signature where `condition` leaves a value
 * other than zero on the stack, and none otherwise.
 */
export function validWhile(condition: Hex): Hex {
  const refuse = size(condition) + 4 + size(ANSWERS.valid)
  return concat([
    condition,
    '0x15',
    '0x60',
    numberToHex(refuse, { size: 1 }),
    '0x57',
    ANSWERS.valid,
    '0x5b',
    ANSWERS.invalid,
  ])
}

/** Conditions of `validWhile`. */
export const WHILE = {
  /** Nobody pays for gas: true in a simulation that names no fee. */
  gasIsFree: '0x3a15',
  /** The transaction was not signed by this account. */
  originIsNot: (address: Hex) => concat(['0x73', address, '0x321415']),
  /** The block is this one or an earlier one. */
  blockUpTo: (height: bigint) =>
    concat(['0x43', '0x67', numberToHex(height, { size: 8 }), '0x1015']),
  /** The gas left is above this: less than a simulation has that names no gas limit. */
  gasAbove: (gas: bigint) => concat(['0x67', numberToHex(gas, { size: 8 }), '0x5a11']),
} as const

/** Runtime code that reverts with these bytes. */
export function revertsWith(data: Hex): Hex {
  const length = numberToHex(size(data), { size: 2 })
  return concat([
    '0x61',
    length,
    '0x600e',
    '0x6000',
    '0x39',
    '0x61',
    length,
    '0x6000',
    '0xfd',
    data,
  ])
}

/** Runtime code that tells its caller to look up the answer at a URL (EIP-3668). */
export function lookupAt(contract: Hex, url: string): Hex {
  const abi = parseAbi([
    'error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)',
  ])
  return revertsWith(
    encodeErrorResult({
      abi,
      errorName: 'OffchainLookup',
      args: [contract, [url], '0x', '0x1626ba7e', '0x'],
    }),
  )
}

/** A new account with this runtime code. */
export async function deployCode(evm: EvmFixture, code: (address: Hex) => Hex): Promise<Hex> {
  const address = privateKeyToAddress(generatePrivateKey())
  await evm.setCode(address, code(address))
  return address
}

/**
 * Lets Permit2 move a contract's tokens, as the contract itself would by a transaction of its
 * owners.
 */
export async function approvePermit2Of(evm: EvmFixture, holder: Hex, token: Asset): Promise<void> {
  await evm.client.setBalance({ address: holder, value: 10n ** 18n })
  await evm.client.impersonateAccount({ address: holder })
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [permit2.address, maxUint256],
  })
  await evm.client.sendUnsignedTransaction({ from: holder, to: getAddress(token.address), data })
  await evm.mine()
  await evm.client.stopImpersonatingAccount({ address: holder })
}

/** The official client with our schemes, for a payer that is a contract. */
export function contractClient(evm: EvmFixture, { address, sign }: ContractPayer): x402Client {
  const scheme = createEvmClient({
    address,
    signTypedData: (data) => sign(hashTypedData(data)),
    sendPayment: () => Promise.reject(new Error('This payer pays tokens.')),
  })
  const { network } = evm.network
  return new x402Client().register(network as `${string}:${string}`, scheme).setSpendControls(false)
}
