import { queryOptions } from '@tanstack/react-query'
import { familyOf, nativeAsset } from '#contract/network.ts'
import { queryClient } from '../../api/query-client.ts'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import { balancesQuery } from '../../payment-flow/steps/use-funds.ts'
import type { useAccounts } from '../../wallet/state/accounts.ts'
import type { AssetBalance } from '../../wallet/state/wallet-adapter.ts'

/** An RPC endpoint that does not answer delays no payer for longer. */
const READ_WITHIN_MS = 4_000
const SHARED_FOR_MS = 9_000

type Accounts = ReturnType<typeof useAccounts>

/** By network; missing until it is read. */
export type OptionBalances = ReadonlyMap<string, readonly AssetBalance[]>

/** What the connected accounts hold on the networks of the options, as far as the endpoints answer in time. */
export function optionBalancesQuery(links: readonly OpenLink[], accounts: Accounts) {
  const own = new Map(
    links.flatMap(({ network }) => {
      const account = accounts.find(({ family }) => family === familyOf(network.network))
      return account ? [[network.network, { network, address: account.address }]] : []
    }),
  )
  return queryOptions({
    queryKey: ['optionBalances', ...[...own].map(([id, { address }]) => `${id} ${address}`)],
    queryFn: async (): Promise<OptionBalances> => {
      const read = new Map<string, readonly AssetBalance[]>()
      const reading = [...own].map(async ([id, { network, address }]) => {
        // The form reads the same for the option in view.
        const query = { ...balancesQuery(network, address), staleTime: SHARED_FOR_MS }
        read.set(id, await queryClient.fetchQuery(query))
      })
      await Promise.race([
        Promise.allSettled(reading),
        new Promise((resolve) => setTimeout(resolve, READ_WITHIN_MS)),
      ])
      return new Map(read)
    },
    refetchInterval: 10_000,
  })
}

/** An option of a short link, and what the connected wallet holds of its currency. */
export type RankedOption = { link: OpenLink; balance: bigint | undefined; rank: number }

/** The options as their merchant ordered them, those first that a connected wallet can pay now. */
export function rankOptions(
  links: readonly OpenLink[],
  balances: OptionBalances | undefined,
): RankedOption[] {
  return links
    .map((link) => {
      const { network } = link
      const balanceOf = (address: string) =>
        balances?.get(network.network)?.find(({ asset }) => asset.address === address)?.atomic
      const balance = balanceOf(link.asset.address)
      const native = balanceOf(nativeAsset(network).address)
      return { link, balance, rank: rankOf(link, { balance, native }) }
    })
    .sort((one, other) => one.rank - other.rank)
}

/** 0: can be paid now; 1: not known yet; 2: nothing is left for the network fee; 3: the wallet holds too little. */
function rankOf(
  { terms, asset }: OpenLink,
  { balance, native }: { balance: bigint | undefined; native: bigint | undefined },
): number {
  if (balance === undefined || native === undefined) return 1
  const needed = terms.amountAtomic === null ? 1n : BigInt(terms.amountAtomic)
  if (balance < needed) return 3
  return (asset.native ? balance > needed : native > 0n) ? 0 : 2
}

/** Whether there is enough of the currency, but nothing for the network fee. */
export function lacksFee({ rank }: RankedOption): boolean {
  return rank === 2
}

/** Whether a payment of this option is known to be impossible now. */
export function isShort({ rank }: RankedOption): boolean {
  return rank >= 2
}

/** What can best be paid from the accounts that are connected, but to none of them. Their balances are waited for, with a limit. */
export async function bestOption(
  links: readonly OpenLink[],
  accounts: Accounts,
): Promise<RankedOption | undefined> {
  const balances = await queryClient.fetchQuery(optionBalancesQuery(links, accounts))
  const own = links.filter(({ network, terms }) =>
    accounts.some(
      ({ family, address }) => family === familyOf(network.network) && address !== terms.recipient,
    ),
  )
  return rankOptions(own, balances)[0]
}
