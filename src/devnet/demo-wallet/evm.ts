import * as v from 'valibot'
import { numberToHex } from 'viem'
import { chooseAccount } from './connect.ts'
import { refused, sendTransaction, signMessage, signTypedData } from './evm-sign.ts'
import { ICON, NAME } from './icon.ts'
import { connected, remember, setup } from './people.ts'
import { node, ProviderError } from './rpc.ts'

type Listener = (...values: unknown[]) => void

const listeners = new Map<string, Set<Listener>>()

function emit(event: string, value: unknown): void {
  for (const listener of listeners.get(event) ?? []) listener(value)
}

const ChainParameter = v.looseObject({ chainId: v.string() })

/** Methods that read and need no permission; the node answers them. Everything not named anywhere is refused. */
const READS = /^(eth_(block|call|estimate|fee|gas|get|max|syncing)\w*|net_\w+|web3_\w+)$/

type Method = (params: readonly unknown[]) => Promise<unknown>

const methods: Readonly<Record<string, Method>> = {
  eth_accounts: accounts,
  eth_requestAccounts: connect,
  eth_chainId: async () => numberToHex((await setup()).evm.chainId),
  eth_sendTransaction: async (params) => sendTransaction(await signing(), params),
  personal_sign: async (params) => signMessage(await signing(), params),
  eth_signTypedData_v4: async (params) => signTypedData(await signing(), params),
  wallet_requestPermissions: async () => {
    await connect()
    return permissions()
  },
  wallet_getPermissions: permissions,
  wallet_revokePermissions: async () => {
    remember('evm', null)
    emit('accountsChanged', [])
    return null
  },
  wallet_switchEthereumChain: async ([parameter]) => {
    await mustBeLocal(parameter, 4902)
    return null
  },
  wallet_addEthereumChain: async ([parameter]) => {
    await mustBeLocal(parameter, -32602)
    return null
  },
}

async function request(input: unknown): Promise<unknown> {
  const { method, params } = v.parse(
    v.object({ method: v.string(), params: v.optional(v.unknown(), []) }),
    input,
  )
  const own = methods[method]
  if (own) return own(Array.isArray(params) ? params : [params])
  if (READS.test(method)) return node(method, params)
  throw new ProviderError(4200, `This wallet does not know ${method}.`)
}

async function accounts(): Promise<string[]> {
  const person = await connected('evm')
  return person ? [person.evm.address] : []
}

async function connect(): Promise<string[]> {
  const known = await accounts()
  if (known.length > 0) return known
  const person = await chooseAccount('evm')
  if (!person) throw refused()
  emit('connect', { chainId: numberToHex((await setup()).evm.chainId) })
  emit('accountsChanged', [person.evm.address])
  return [person.evm.address]
}

async function signing() {
  const person = await connected('evm')
  if (!person) throw new ProviderError(4100, 'This page is not connected.')
  return { person, chainId: (await setup()).evm.chainId }
}

async function permissions(): Promise<unknown> {
  const known = await accounts()
  return known.length === 0
    ? []
    : [
        {
          parentCapability: 'eth_accounts',
          caveats: [{ type: 'restrictReturnedAccounts', value: known }],
        },
      ]
}

async function mustBeLocal(parameter: unknown, code: number): Promise<void> {
  const { chainId } = v.parse(ChainParameter, parameter)
  const local = (await setup()).evm.chainId
  if (Number(chainId) !== local)
    throw new ProviderError(code, `This wallet knows the local network (chain ${local}) only.`)
}

const provider = {
  request,
  on(event: string, listener: Listener) {
    const set = listeners.get(event) ?? new Set()
    listeners.set(event, set.add(listener))
    return provider
  },
  removeListener(event: string, listener: Listener) {
    listeners.get(event)?.delete(listener)
    return provider
  },
}

/** Tells the page of this wallet by EIP-6963, now and whenever it asks. */
export function announceEvm(): void {
  const detail = Object.freeze({
    info: Object.freeze({
      uuid: crypto.randomUUID(),
      name: NAME,
      icon: ICON,
      rdns: 'local.paydesk.demo',
    }),
    provider: Object.freeze(provider),
  })
  const announce = () =>
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
}
