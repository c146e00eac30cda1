import * as v from 'valibot'
import { bytesToString, hexToBytes, isHex, numberToHex, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { ProviderError, type WalletOwner } from './owner.ts'

/** An EVM wallet: the demo wallet, and the wallets of the stories and of WalletConnect's tests, differ in their owner only. */

const hex = v.custom<Hex>((value) => isHex(value, { strict: true }))
const amount = v.pipe(
  hex,
  v.transform((text) => BigInt(text)),
)
const quantity = v.optional(amount)

const Call = v.object({
  from: hex,
  to: v.optional(hex),
  value: v.optional(amount, '0x0'),
  data: v.optional(hex, '0x'),
  gas: quantity,
  nonce: quantity,
  maxFeePerGas: quantity,
  maxPriorityFeePerGas: quantity,
  gasPrice: quantity,
  chainId: quantity,
})
export type EvmCall = v.InferOutput<typeof Call>
type PricedCall = EvmCall & { gas: bigint; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

const Chain = v.looseObject({ chainId: v.string() })

const TypedDataSchema = v.object({
  types: v.record(v.string(), v.array(v.object({ name: v.string(), type: v.string() }))),
  primaryType: v.string(),
  domain: v.record(v.string(), v.unknown()),
  message: v.record(v.string(), v.unknown()),
})

export type WalletTypedData = v.InferOutput<typeof TypedDataSchema>

export type EvmApprovalRequest =
  | { kind: 'transaction'; call: PricedCall }
  | { kind: 'message'; text: string }
  | { kind: 'typed_data'; data: WalletTypedData }

export type EvmOwner = WalletOwner<PrivateKeyAccount, EvmApprovalRequest> & {
  /** The network that the wallet sends on. */
  network(): Promise<{ chainId: number; rpcUrl: string }>
  /** Another chain that the wallet is on. It does not know its network until the page adds it. */
  foreignChainId?: number | undefined
  /** Adds the network and switches to it. @throws ProviderError 4001 when the owner refuses */
  addNetwork?(): Promise<void>
  /** Whether it sends with the nonce that the page asks for, and says so. */
  readonly exactNonce?: boolean
  /** What the wallet sends instead of what the page asked for. */
  amend?(call: EvmCall): EvmCall
  /** Runs after the broadcast and before the page gets the hash. */
  onBroadcast?(hash: Hex): Promise<void>
}

type Method = (owner: EvmOwner, params: readonly unknown[]) => Promise<unknown>

const METHODS: Readonly<Record<string, Method>> = {
  eth_accounts: accounts,
  eth_requestAccounts: connect,
  eth_chainId: async (owner) => numberToHex(await currentChain(owner)),
  net_version: async (owner) => String(await currentChain(owner)),
  eth_sendTransaction: sendTransaction,
  personal_sign: signMessage,
  eth_signTypedData_v4: signTypedData,
  // EIP-5792.
  wallet_getCapabilities: async (owner) => ({
    [numberToHex((await owner.network()).chainId)]: {
      exactNonce: { supported: owner.exactNonce === true },
    },
  }),
  wallet_requestPermissions: async (owner) => {
    await connect(owner)
    return permissions(owner)
  },
  wallet_getPermissions: permissions,
  wallet_revokePermissions: async (owner) => {
    owner.disconnect()
    return null
  },
  wallet_switchEthereumChain: async (owner, [parameter]) => {
    const { chainId } = read(Chain, parameter)
    if (Number(chainId) === (await currentChain(owner))) return null
    const advice = 'Try adding the chain using wallet_addEthereumChain first.'
    throw new ProviderError(4902, `Unrecognized chain ID "${chainId}". ${advice}`)
  },
  wallet_addEthereumChain: async (owner, [parameter]) => {
    const { chainId } = await owner.network()
    if (Number(read(Chain, parameter).chainId) !== chainId)
      throw new ProviderError(
        -32602,
        `This wallet knows the local network (chain ${chainId}) only.`,
      )
    if (owner.foreignChainId !== undefined) await owner.addNetwork?.()
    return null
  },
}

/** Methods that read and need no permission; the node answers them. Everything not named anywhere is refused. */
const READS = /^(eth_(block|call|estimate|fee|gas|get|max|syncing)\w*|net_\w+|web3_\w+)$/

/** Answers one request of EIP-1193. @throws ProviderError */
export async function handleEvmRequest(
  owner: EvmOwner,
  method: string,
  params: unknown = [],
): Promise<unknown> {
  const own = METHODS[method]
  if (own) return own(owner, Array.isArray(params) ? params : [params])
  if (READS.test(method)) return rpc(owner, method, params)
  throw new ProviderError(4200, `This wallet does not know ${method}.`)
}

async function accounts(owner: EvmOwner): Promise<string[]> {
  const account = await owner.account()
  return account ? [account.address] : []
}

async function connect(owner: EvmOwner): Promise<string[]> {
  return [((await owner.account()) ?? (await owner.connect())).address]
}

async function permissions(owner: EvmOwner): Promise<unknown> {
  const value = await accounts(owner)
  const caveats = [{ type: 'restrictReturnedAccounts', value }]
  return value.length === 0 ? [] : [{ parentCapability: 'eth_accounts', caveats }]
}

async function currentChain(owner: EvmOwner): Promise<number> {
  return owner.foreignChainId ?? (await owner.network()).chainId
}

/** Signs here and sends through the node. */
async function sendTransaction(owner: EvmOwner, [input]: readonly unknown[]): Promise<Hex> {
  const requested = readCall(input)
  const account = await ownAccount(owner, requested.from)
  const [{ chainId }, current] = [await owner.network(), await currentChain(owner)]
  if (Number(requested.chainId ?? chainId) !== current)
    throw new ProviderError(
      -32602,
      `This wallet is on chain ${current}, the transaction on ${requested.chainId ?? chainId}.`,
    )
  const call = await addFees(owner, owner.amend?.(requested) ?? requested)
  await owner.approve({ kind: 'transaction', call }, account)
  const hash = await signAndBroadcast(owner, account, call)
  await owner.onBroadcast?.(hash)
  return hash
}

/** The fields of `eth_sendTransaction`. @throws ProviderError -32602 */
export function readCall(input: unknown): EvmCall {
  return read(Call, input)
}

async function addFees(owner: EvmOwner, call: EvmCall): Promise<PricedCall> {
  const { from, to, data } = call
  const quantityOf = async (method: string, params: unknown) =>
    BigInt(read(hex, await rpc(owner, method, params)))
  const plain = { from, ...(to && { to }), value: numberToHex(call.value), data }
  const gas = call.gas ?? (await quantityOf('eth_estimateGas', [plain]))
  const gasPrice = call.gasPrice ?? (await quantityOf('eth_gasPrice', []))
  const maxFeePerGas = call.maxFeePerGas ?? gasPrice * 2n
  const maxPriorityFeePerGas =
    call.maxPriorityFeePerGas ?? (maxFeePerGas < gasPrice ? maxFeePerGas : gasPrice)
  return { ...call, gas, maxFeePerGas, maxPriorityFeePerGas }
}

/** Signs a transaction and sends it. Without a nonce it gets the account's next one, as of now: the owner may have waited. */
export async function signAndBroadcast(
  owner: EvmOwner,
  account: PrivateKeyAccount,
  call: PricedCall,
): Promise<Hex> {
  const { gas, maxFeePerGas, maxPriorityFeePerGas, to, value, data } = call
  const { chainId } = await owner.network()
  const nonce = Number(
    call.nonce ?? (await rpc(owner, 'eth_getTransactionCount', [account.address, 'pending'])),
  )
  const fees = { gas, maxFeePerGas, maxPriorityFeePerGas }
  const transaction = { type: 'eip1559', chainId, nonce, ...fees, to, value, data } as const
  const signed = await account.signTransaction(transaction)
  return read(hex, await rpc(owner, 'eth_sendRawTransaction', [signed]))
}

async function signMessage(owner: EvmOwner, [message, address]: readonly unknown[]): Promise<Hex> {
  const account = await ownAccount(owner, read(hex, address))
  const text = read(v.string(), message)
  const raw = isHex(text, { strict: true }) ? hexToBytes(text) : new TextEncoder().encode(text)
  await owner.approve({ kind: 'message', text: bytesToString(raw) }, account)
  return account.signMessage({ message: { raw } })
}

/** As in MetaMask: the domain must be of the wallet's current chain. */
async function signTypedData(owner: EvmOwner, [address, json]: readonly unknown[]): Promise<Hex> {
  const account = await ownAccount(owner, read(hex, address))
  const data = read(TypedDataSchema, typeof json === 'string' ? JSON.parse(json) : json)
  const [requested, current] = [data.domain['chainId'], await currentChain(owner)]
  if (requested !== undefined && Number(requested) !== current)
    throw new ProviderError(
      -32602,
      `This wallet is on chain ${current}, the data on ${String(requested)}.`,
    )
  await owner.approve({ kind: 'typed_data', data }, account)
  return account.signTypedData(data)
}

async function ownAccount(owner: EvmOwner, address: Hex): Promise<PrivateKeyAccount> {
  const account = await owner.account()
  if (account?.address.toLowerCase() !== address.toLowerCase())
    throw new ProviderError(4100, 'This page is not connected to that account.')
  return account
}

function read<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input)
  if (!result.success)
    throw new ProviderError(-32602, `The request is malformed: ${result.issues[0].message}`)
  return result.output
}

const RpcResponse = v.union([
  v.object({
    error: v.object({ code: v.number(), message: v.string(), data: v.optional(v.unknown()) }),
  }),
  v.object({ result: v.unknown() }),
])

/** Asks the node of the wallet's network. @throws ProviderError of the node, or 4900 when it cannot be reached */
export async function rpc(owner: EvmOwner, method: string, params: unknown): Promise<unknown> {
  const { rpcUrl } = await owner.network()
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }).catch((error: unknown) => {
    throw new ProviderError(4900, 'The local network cannot be reached.', String(error))
  })
  const reply = v.parse(RpcResponse, await response.json())
  if ('error' in reply)
    throw new ProviderError(reply.error.code, reply.error.message, reply.error.data)
  return reply.result
}

type Announcement = {
  info: { uuid: string; name: string; icon: string; rdns: string }
  /** What some wallets have beside the methods of EIP-1193. */
  flags?: { isMetaMask: true }
}
type Listener = (value: unknown) => void

/**
 * Announces a provider to the page by EIP-6963, now and at each request. Stories put the text of this function into their pages: it
 * uses nothing outside of itself. Returns what emits an event of the provider.
 */
export function announceEvm(
  { info, flags }: Announcement,
  answer: (method: string, params: unknown) => Promise<unknown>,
): (event: string, value: unknown) => void {
  const listeners = new Map<string, Set<Listener>>()
  const provider = Object.freeze({
    ...flags,
    request: async ({ method, params }: { method: string; params?: unknown }) =>
      answer(method, params),
    on(event: string, listener: Listener) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener))
      return provider
    },
    removeListener(event: string, listener: Listener) {
      listeners.get(event)?.delete(listener)
      return provider
    },
  })
  const detail = Object.freeze({ info: Object.freeze(info), provider })
  const announce = () =>
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
  return (event, value) => listeners.get(event)?.forEach((listener) => listener(value))
}
