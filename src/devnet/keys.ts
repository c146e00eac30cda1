import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { SCOPES, type Plan, type Scope } from '#contract/api-key-body.ts'
import type { Family } from '#contract/address.ts'
import type { Database } from '#postgres/open.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { createKey } from '#service/keys/create-key.ts'
import { createWallet, listWallets } from '#service/wallets/create-wallet.ts'
import { openSigner } from '#signer/client.ts'
import { registerWallet } from '#service/wallets/ownership.ts'
import { readSecret } from '#service/admin/wallet-commands.ts'
import { devnetWallets } from './nodes/wallets.ts'

const key = v.optional(v.string(), '')
const Keys = v.object({
  accountId: v.string(),
  operator: key,
  standard: key,
  readonly: key,
  proxy: key,
  seller: key,
})

/** The demo seller's account and its keys. `proxy` is the one that the bff holds, so that no tool eats up its quota; `seller` the shop's. */
export type Keys = v.InferOutput<typeof Keys>

const PAYING: readonly Scope[] = [
  'payment:send',
  'payment:receive',
  'payment:read',
  'transaction:build',
  'token:read',
]
const READING: readonly Scope[] = ['payment:read', 'token:read']

const ISSUED = {
  operator: { name: 'Operator', plan: 'premium', scopes: SCOPES },
  standard: { name: 'Server', plan: 'standard', scopes: PAYING },
  readonly: { name: 'Bookkeeping', plan: 'standard', scopes: READING },
  proxy: { name: 'Proxy', plan: 'premium', scopes: [...PAYING, 'keys:manage', 'wallets:manage'] },
  seller: { name: 'Demo shop', plan: 'premium', scopes: ['payment:receive', 'payment:read'] },
} as const satisfies Record<
  Exclude<keyof Keys, 'accountId'>,
  { name: string; plan: Plan; scopes: readonly Scope[] }
>

type Preparation = { db: Database; vaultKeyFile: string; known?: Keys }

/** The account, its keys and its wallets, as the operator's command makes them; what is there already stays. */
export async function prepareAccount({ db, vaultKeyFile, known }: Preparation): Promise<Keys> {
  const accountId =
    known?.accountId ?? (await createAccount(db, { name: 'Demo seller', plan: 'premium' })).id
  const keys: Keys = {
    operator: '',
    standard: '',
    readonly: '',
    proxy: '',
    seller: '',
    ...known,
    accountId,
  }
  for (const name of MADE)
    keys[name] ||= (await createKey(db, { accountId, ...ISSUED[name], environment: 'test' })).key
  await importWallets(db, { accountId, vaultKeyFile })
  await registerSeller(db, accountId)
  return keys
}

const MADE = ['operator', 'standard', 'readonly', 'proxy', 'seller'] as const

/** Whether nothing is left to prepare. */
export function isComplete(keys: Keys): boolean {
  return MADE.every((name) => keys[name] !== '')
}

/** The service signs for these from now on; the wallets' money is the devnet's. */
async function importWallets(
  db: Database,
  { accountId, vaultKeyFile }: { accountId: string; vaultKeyFile: string },
): Promise<void> {
  const { managed, facilitator } = devnetWallets()
  await using signer = await openSigner({ env: { VAULT_KEY_FILE: vaultKeyFile } })
  const known = new Set((await listWallets(db, accountId)).map(({ address }) => address))
  const take = async (
    family: Family,
    name: string,
    { address, text }: { address: string; text: string },
  ) => {
    if (known.has(address)) return
    const secret = readSecret(family, text)
    if (!secret) throw new Error(`The managed wallet on ${family} has no readable key.`)
    await createWallet({ db, signer, now: new Date() }, { accountId, family, name, secret })
  }
  for (const [name, { evm, solana }] of [
    ['Payouts', managed],
    ['Settlements', facilitator],
  ] as const) {
    await take('evm', name, { address: evm.address, text: evm.privateKey })
    await take('solana', name, { address: solana.address, text: solana.secretKey })
  }
}

/** The demo seller is paid at these: what they receive is the account's income, and no other account can use proofs of it. */
async function registerSeller(db: Database, accountId: string): Promise<void> {
  const { seller } = devnetWallets()
  for (const { address } of [seller.evm, seller.solana])
    await registerWallet(
      { db, now: new Date() },
      { accountId, address, network: null, proof: 'operator' },
    )
}

/** Keys cannot be read back from the service: it holds their hashes only. */
export async function writeKeys(dir: string, keys: Keys): Promise<void> {
  await writeFile(join(dir, 'keys.json'), JSON.stringify(keys), { mode: 0o600 })
}

export async function readKeys(dir: string): Promise<Keys> {
  return v.parse(Keys, JSON.parse(await readFile(join(dir, 'keys.json'), 'utf8')))
}
