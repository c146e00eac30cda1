import { familyOf, nativeAsset } from '#contract/network.ts'
import { queryClient } from '../../api/query-client.ts'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import { balancesQuery } from '../../payment-flow/steps/use-funds.ts'
import type { useAccounts } from '../../wallet/state/accounts.ts'
import type { AssetBalance } from '../../wallet/state/wallet-adapter.ts'

/** An RPC endpoint that does not answer delays no payer for longer. */
const READ_WITHIN_MS = 4_000

type Accounts = ReturnType<typeof useAccounts>

/** What an account holds on the network of an option; undefined until it is read. */
export type BalancesOf = (link: OpenLink) => readonly AssetBalance[] | undefined

/** An option of a short link, and what the connected wallet holds of its currency. */
export type RankedOption = { link: OpenLink; balance: bigint | undefined; rank: number }

/** The options as their merchant ordered them, those first that a connected wallet can pay now. */
export function rankOptions(links: readonly OpenLink[], balancesOf: BalancesOf): RankedOption[] {
  return links
    .map((link) => {
      const balances = balancesOf(link)
      const held = (address: string) =>
        balances?.find(({ asset }) => asset.address === address)?.atomic
      const balance = held(link.asset.address)
      const native = held(nativeAsset(link.network).address)
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

/** The option to pay from the accounts that are connected. Their balances are waited for, with a limit. */
export async function firstPayable(
  links: readonly OpenLink[],
  accounts: Accounts,
): Promise<OpenLink | undefined> {
  const own = links.flatMap((link) => {
    const account = accounts.find(({ family }) => family === familyOf(link.network.network))
    return account ? [{ link, query: balancesQuery(link.network, account.address) }] : []
  })
  const reading = own.map(({ query }) => queryClient.ensureQueryData(query))
  await Promise.race([
    Promise.allSettled(reading),
    new Promise((resolve) => setTimeout(resolve, READ_WITHIN_MS)),
  ])
  const queries = new Map(own.map(({ link, query }) => [link, query.queryKey]))
  const [first] = rankOptions([...queries.keys()], (link) => {
    const key = queries.get(link)
    return key && queryClient.getQueryData(key)
  })
  return first?.link
}
