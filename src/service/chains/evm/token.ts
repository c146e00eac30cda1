import {
  decodeFunctionResult,
  encodeFunctionData,
  hexToString,
  parseAbi,
  size,
  zeroAddress,
  zeroHash,
  type Hex,
  type PublicClient,
} from 'viem'
import { EVM_NATIVE } from '#contract/address.ts'
import type { Network } from '#contract/network.ts'
import type { TokenInfo } from '../chain.ts'
import { nativeToken, printableText } from '../contracts.ts'
import type { EvmEndpoints } from './client.ts'
import { refusal } from './simulate.ts'

const abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function TRANSFER_WITH_AUTHORIZATION_TYPEHASH() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
])

const encode = {
  name: encodeFunctionData({ abi, functionName: 'name' }),
  symbol: encodeFunctionData({ abi, functionName: 'symbol' }),
  decimals: encodeFunctionData({ abi, functionName: 'decimals' }),
  totalSupply: encodeFunctionData({ abi, functionName: 'totalSupply' }),
  typehash: encodeFunctionData({ abi, functionName: 'TRANSFER_WITH_AUTHORIZATION_TYPEHASH' }),
  authorizationState: encodeFunctionData({
    abi,
    functionName: 'authorizationState',
    args: [zeroAddress, zeroHash],
  }),
}

/** keccak256("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"), EIP-3009. */
const TRANSFER_WITH_AUTHORIZATION_TYPEHASH =
  '0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267'

/** An ERC-20 token or the native currency; undefined when the address is neither. */
export function readToken(
  endpoints: EvmEndpoints,
  network: Network,
  address: string,
): Promise<TokenInfo | undefined> {
  if (address === EVM_NATIVE || address === zeroAddress)
    return Promise.resolve(nativeToken(network))
  return endpoints.request(async (client): Promise<TokenInfo | undefined> => {
    const token = address as Hex
    // A call to an address without code succeeds with nothing, so code comes first.
    if ((await client.getCode({ address: token })) === undefined) return undefined
    const [decimals, totalSupply, name, symbol, eip3009] = await Promise.all([
      readNumber(client, token, 'decimals'),
      readNumber(client, token, 'totalSupply'),
      readText(client, token, 'name'),
      readText(client, token, 'symbol'),
      takesAuthorizations(client, token),
    ])
    if (decimals === undefined || decimals > 255n || totalSupply === undefined) return undefined
    return {
      address,
      standard: 'erc20',
      name,
      symbol,
      decimals: Number(decimals),
      totalSupplyAtomic: totalSupply,
      mintAuthority: null,
      freezeAuthority: null,
      eip3009,
    }
  })
}

async function readRaw(client: PublicClient, to: Hex, data: Hex): Promise<Hex | undefined> {
  try {
    return (await client.call({ to, data })).data
  } catch (error) {
    if (refusal(error) === undefined) throw error
    return undefined
  }
}

/** Undefined when the contract refuses or answers something else. */
async function readNumber(
  client: PublicClient,
  address: Hex,
  functionName: 'decimals' | 'totalSupply',
): Promise<bigint | undefined> {
  const data = await readRaw(client, address, encode[functionName])
  return data !== undefined && size(data) === 32 ? BigInt(data) : undefined
}

/** Nobody's name is longer; what is, is not even read. */
const MAX_NAME_BYTES = 4_096

/** A name is optional in ERC-20, and old tokens return it as 32 bytes. */
async function readText(
  client: PublicClient,
  address: Hex,
  functionName: 'name' | 'symbol',
): Promise<string | null> {
  const data = await readRaw(client, address, encode[functionName])
  if (data === undefined || size(data) > MAX_NAME_BYTES) return null
  if (size(data) === 32) return printableText(hexToString(data, { size: 32 }))
  try {
    return printableText(decodeFunctionResult({ abi, functionName, data }))
  } catch {
    return null
  }
}

async function takesAuthorizations(client: PublicClient, address: Hex): Promise<boolean> {
  const [typehash, state] = await Promise.all([
    readRaw(client, address, encode.typehash),
    readRaw(client, address, encode.authorizationState),
  ])
  if (typehash === TRANSFER_WITH_AUTHORIZATION_TYPEHASH) return true
  return state !== undefined && size(state) === 32 && BigInt(state) <= 1n
}
