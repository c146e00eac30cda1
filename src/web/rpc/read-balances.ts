import { t } from '@lingui/core/macro'
import * as v from 'valibot'
import { LosslessNumber } from '#contract/json.ts'
import { chainIdOf, familyOf, type Asset, type Network } from '#contract/network.ts'
import { callNetwork, RpcError } from './call.ts'

/**
 * What many wallets hold of a network's assets, in few calls to the endpoints of this browser: one for
 * each 200 figures on EVM, one for each 100 accounts on Solana. Nothing is read unless a page asks.
 */

/** One figure: `undefined` where the token did not answer like one. */
export type WalletBalance = { wallet: string; asset: string; atomic: bigint | undefined }
export type NetworkBalances = {
  /** Of the oldest block that was read; a slot on Solana. */
  height: number
  balances: WalletBalance[]
}

type BalanceQuery = { wallet: string; asset: Asset }

/** A figure stays for this long: opening a page again within it asks nobody. */
export const FRESH_MS = 60_000

/** @throws RpcError when no endpoint answers, or one answers something else */
export async function readBalances(
  network: Network,
  wallets: readonly string[],
  assets: readonly Asset[],
): Promise<NetworkBalances> {
  const queries = wallets.flatMap((wallet) => assets.map((asset) => ({ wallet, asset })))
  return familyOf(network.network) === 'evm'
    ? readEvm(network, queries)
    : readSolana(network, queries)
}

/** Figures in one call: some 15 kB, below what nodes take for the code of a contract. */
const EVM_FIGURES = 200
const WORD = 64
const UNREADABLE = 2n ** 256n - 1n
/** Chain id and height. */
const HEADER_WORDS = 2

async function readEvm(
  network: Network,
  queries: readonly BalanceQuery[],
): Promise<NetworkBalances> {
  let height = Infinity
  const balances: WalletBalance[] = []
  for (let start = 0; start < queries.length; start += EVM_FIGURES) {
    const page = queries.slice(start, start + EVM_FIGURES)
    const answer = await callNetwork(network, 'eth_call', [{ data: balancesCode(page) }, 'latest'])
    const words = readWords(answer, HEADER_WORDS + page.length)
    const [chain, block, ...figures] = words
    if (chain !== BigInt(chainIdOf(network.network)) || block === undefined) throw unexpected()
    height = Math.min(height, Number(block))
    for (const [index, { wallet, asset }] of page.entries()) {
      const figure = figures[index]
      balances.push({
        wallet,
        asset: asset.address,
        atomic: figure === UNREADABLE ? undefined : figure,
      })
    }
  }
  return { height, balances }
}

function readWords(answer: unknown, count: number): bigint[] {
  if (typeof answer !== 'string' || !/^0x[0-9a-f]*$/i.test(answer)) throw unexpected()
  if (answer.length !== 2 + count * WORD) throw unexpected()
  return Array.from({ length: count }, (_, index) =>
    BigInt(`0x${answer.slice(2 + index * WORD, 2 + (index + 1) * WORD)}`),
  )
}

const hex = (value: number, bytes: number) => value.toString(16).padStart(bytes * 2, '0')

/**
 * A program for `eth_call` without a recipient: it is run, never deployed, and returns the chain id, the
 * height, and each balance as one word, all of one block. No contract has to be on the chain, and a figure
 * that the token does not give is all ones: `balance | (ok - 1)`, where ok is 1 for a call that succeeded
 * with a word or more. A token gets 300,000 gas.
 */
export function balancesCode(queries: readonly BalanceQuery[]): `0x${string}` {
  // balanceOf(address), its selector at 0 and the wallet in the word at 4; the answer comes to 0x40.
  let code = '6370a0823160e01b600052'
  let place = 0x60
  const store = (push: string) => {
    code += `${push}61${hex(place, 2)}52`
    place += 32
  }
  // CHAINID, NUMBER
  store('46')
  store('43')
  for (const { wallet, asset } of queries) {
    const owner = `73${wallet.slice(2).toLowerCase()}`
    if (asset.native) store(`${owner}31`)
    else
      store(
        `${owner}600452` +
          `602060406024600073${asset.address.slice(2).toLowerCase()}620493e0fa` +
          '3d601f1016' +
          '6001900360405117',
      )
  }
  return `0x${code}61${hex(place - 0x60, 2)}6060f3`
}

/** The most accounts a node tells of in one answer. */
const SOLANA_ACCOUNTS = 100

const whole = v.pipe(
  v.union([v.number(), v.instance(LosslessNumber)]),
  v.transform((value) => BigInt(typeof value === 'number' ? value : value.value)),
)
const SolanaAccounts = v.object({
  context: v.object({ slot: v.number() }),
  value: v.array(
    v.nullable(
      v.object({
        lamports: whole,
        owner: v.string(),
        data: v.tuple([v.string(), v.literal('base64')]),
      }),
    ),
  ),
})
type SolanaAccount = v.InferOutput<typeof SolanaAccounts>['value'][number]

/** Tokens are those of the associated accounts: payments are made out of these alone. */
async function readSolana(
  network: Network,
  queries: readonly BalanceQuery[],
): Promise<NetworkBalances> {
  const tokens = queries.some(({ asset }) => !asset.native)
    ? await import('#chains/solana/token-account.ts')
    : undefined
  const addressesOf = ({ wallet, asset }: BalanceQuery) =>
    asset.native ? [wallet] : (tokens?.holdersOf(wallet, asset.address) ?? [])
  const addresses = [...new Set(queries.flatMap(addressesOf))]
  const accounts = new Map<string, SolanaAccount>()
  let height = Infinity
  for (let start = 0; start < addresses.length; start += SOLANA_ACCOUNTS) {
    const page = addresses.slice(start, start + SOLANA_ACCOUNTS)
    const answer = v.safeParse(
      SolanaAccounts,
      await callNetwork(network, 'getMultipleAccounts', [
        page,
        { encoding: 'base64', commitment: 'confirmed' },
      ]),
    )
    if (!answer.success || answer.output.value.length !== page.length) throw unexpected()
    height = Math.min(height, answer.output.context.slot)
    for (const [index, address] of page.entries())
      accounts.set(address, answer.output.value[index] ?? null)
  }
  const balances = queries.map(({ wallet, asset }) => ({
    wallet,
    asset: asset.address,
    atomic: asset.native
      ? (accounts.get(wallet)?.lamports ?? 0n)
      : addressesOf({ wallet, asset }).reduce(
          (sum, address) =>
            sum + (tokens?.tokensIn(accounts.get(address), wallet, asset.address) ?? 0n),
          0n,
        ),
  }))
  return { height, balances }
}

function unexpected(): RpcError {
  return new RpcError(t`Unexpected answer.`)
}
