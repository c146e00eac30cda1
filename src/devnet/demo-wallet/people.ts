import bs58 from 'bs58'
import * as v from 'valibot'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { Family } from '#contract/address.ts'
import { Asset } from '#contract/network.ts'
import { secretKeyToAccount, type SolanaAccount } from './solana-wallet.ts'

const hex = v.custom<`0x${string}`>(
  (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value),
)

const Config = v.object({
  tokens: v.array(Asset),
  people: v.array(v.object({ name: v.string(), evmPrivateKey: hex, solanaSecretKey: v.string() })),
  evm: v.object({ chainId: v.number(), rpcUrl: v.string() }),
})

export type DemoPerson = { name: string; evm: PrivateKeyAccount; solana: SolanaAccount }

export type Setup = {
  people: DemoPerson[]
  tokens: Asset[]
  evm: { chainId: number; rpcUrl: string }
}

const source = new URL(
  'demo-wallet.json',
  document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : location.href,
)
let loading: Promise<Setup> | undefined

/** The accounts and the node of this machine, read at first need. */
export function setup(): Promise<Setup> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

async function load(): Promise<Setup> {
  const response = await fetch(source)
  const { people, tokens, evm } = v.parse(Config, await response.json())
  return {
    evm,
    tokens,
    people: people.map(({ name, evmPrivateKey, solanaSecretKey }) => ({
      name,
      evm: privateKeyToAccount(evmPrivateKey),
      solana: secretKeyToAccount(bs58.decode(solanaSecretKey)),
    })),
  }
}

const REMEMBERED = 'paydesk.demo-wallet'

/** Whom this page may see, by family: kept over reloads, as wallets keep what a site was allowed. */
export function remembered(family: Family): string | null {
  return localStorage.getItem(`${REMEMBERED}.${family}`)
}

export function remember(family: Family, name: string | null): void {
  if (name === null) localStorage.removeItem(`${REMEMBERED}.${family}`)
  else localStorage.setItem(`${REMEMBERED}.${family}`, name)
}

/** The person this page is connected to, if any. */
export async function connected(family: Family): Promise<DemoPerson | undefined> {
  const name = remembered(family)
  return name === null ? undefined : (await setup()).people.find((person) => person.name === name)
}
