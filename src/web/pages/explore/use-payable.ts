import { useQueries } from '@tanstack/react-query'
import { familyOf, type Asset } from '#contract/network.ts'
import { useConfig } from '../../api/use-config.ts'
import { balancesQuery } from '../../payment-flow/steps/balance.ts'
import { useAccounts, type ConnectedAccount } from '../../wallet/state/accounts.ts'
import type { PaymentOption } from './request/challenge.ts'
import { validateForPayer, validateTerms, type Usable } from './request/usable.ts'

/** A way to pay, for the wallets that are connected. */
export type PayableOption = {
  offer: PaymentOption
  /** Whether a wallet in a browser could pay it at all. */
  supported: boolean
  usable: Usable
  account: ConnectedAccount | undefined
  /** Atomic units of the option's currency; undefined until it is read. */
  balance: bigint | undefined
}

/**
 * The options that this browser can pay, those first for which a connected wallet has the money, and
 * otherwise in the server's order; and the options that no wallet here can pay.
 */
export function usePayable(offers: readonly PaymentOption[]): {
  payable: PayableOption[]
  others: PayableOption[]
} {
  const { networks } = useConfig()
  const accounts = useAccounts()
  const options = offers.map((offer) => {
    const byTerms = validateTerms(offer.terms, networks)
    const family = byTerms.network && familyOf(byTerms.network.network)
    const account = accounts.find((each) => each.family === family)
    return { offer, byTerms, account }
  })
  const queries = useQueries({
    queries: options.map(({ byTerms, account }) =>
      balancesQuery(byTerms.ok ? byTerms.network : undefined, account?.address),
    ),
  })
  const read = options.map(({ offer, byTerms, account }, index): PayableOption => {
    const balanceOf = (wanted: Asset) =>
      queries[index]?.data?.find(({ asset }) => asset.address === wanted.address)?.atomic
    const payer = account && { address: account.address, balance: balanceOf }
    const usable = validateForPayer(offer.terms, byTerms, payer)
    const balance = byTerms.asset && balanceOf(byTerms.asset)
    return { offer, supported: byTerms.ok, usable, account, balance }
  })
  return {
    payable: read.filter(({ supported }) => supported).toSorted((a, b) => rankOf(a) - rankOf(b)),
    others: read.filter(({ supported }) => !supported),
  }
}

/** Paid by a connected wallet, by one that is to be connected, by none with enough in it. */
function rankOf({ usable, account }: PayableOption): number {
  return usable.ok ? (account ? 0 : 1) : 2
}
