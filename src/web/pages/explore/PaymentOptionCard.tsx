import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef } from 'react'
import { useQueries } from '@tanstack/react-query'
import { familyOf, nativeAsset, type Asset } from '#contract/network.ts'
import { useConfig } from '../../api/use-config.ts'
import { Worth } from '../../payment-flow/Worth.tsx'
import { balancesQuery } from '../../payment-flow/steps/use-funds.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { useConnectFirst, type ConnectedAccount, useAccounts } from '../../wallet/state/accounts.ts'
import type { PaymentOption } from './request/challenge.ts'
import {
  UNUSABLE,
  type Usable,
  type Way,
  validateForPayer,
  validateTerms,
} from './request/usable.ts'

export type PaymentOptionCardProps = {
  option: PayableOption
  onPay: (paymentOption: PaymentOption, payer: { account: ConnectedAccount; way: Way }) => void
  busy: boolean
  /** The way on, if the reader has no other wish. */
  first: boolean
}

/** One way to pay: what it costs, what of it the reader has, and what they would be asked to do; or why it cannot be paid here. */
export function PaymentOptionCard({ option, onPay, busy, first }: PaymentOptionCardProps) {
  const { paymentOption, usable, account, balance } = option
  const { terms } = paymentOption
  const { t } = useLingui()
  // Who presses pay and connects on the way continues to the review, unless the balance says no.
  const continues = useRef(false)
  const connect = useConnectFirst(() => {
    continues.current = true
  })
  useEffect(() => {
    if (!continues.current || !account || balance === undefined) return
    continues.current = false
    if (usable.ok) onPay(paymentOption, { account, way: usable.way })
  })
  const { network, asset } = usable
  const family = network && familyOf(network.network)
  const amount = terms.amountAtomic.toString()
  const look = first ? 'primary' : 'secondary'
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3 px-5 py-4">
      <div className="min-w-0 flex-1 basis-72">
        {asset ? (
          <>
            <Amount
              atomic={terms.amountAtomic}
              decimals={asset.decimals}
              exact
              size="lg"
              symbol={asset.symbol}
            />
            <Worth asset={asset} atomic={terms.amountAtomic} className="text-sm" />
          </>
        ) : (
          <span className="figures text-lg font-semibold break-all">
            <Trans>{amount} units, unknown currency</Trans>
          </span>
        )}
        <p className="mt-0.5 text-sm text-muted">
          <Trans>
            on {network?.name ?? terms.network} to <Address value={terms.payTo} />
          </Trans>
        </p>
        <Steps usable={usable} />
        {!usable.ok && (
          <p className="mt-2 flex items-start gap-1.5 text-sm text-warn-ink">
            <Icon className="mt-0.5 shrink-0" name="warning" />
            <span>
              {t(UNUSABLE[usable.reason])}
              {usable.reason === 'method' && terms.method && (
                <span className="ms-1 font-mono text-[13px] text-muted">{terms.method}</span>
              )}
            </span>
          </p>
        )}
        <Holding account={account} asset={asset} balance={balance} />
      </div>
      <div className="flex flex-col gap-2 max-sm:w-full sm:items-end">
        {usable.ok && family && !account && (
          <Button icon={<Icon name="wallet" />} onClick={() => connect(family)} variant={look}>
            <Trans>Connect a wallet to pay</Trans>
          </Button>
        )}
        {usable.ok && account && (
          <Button
            busy={busy}
            icon={<Icon name="pay" />}
            onClick={() => {
              continues.current = false
              onPay(paymentOption, { account, way: usable.way })
            }}
            variant={look}
          >
            <Trans>Review and pay</Trans>
          </Button>
        )}
      </div>
    </li>
  )
}

/** What the wallet will be asked. */
function Steps({ usable }: { usable: Usable }) {
  if (!usable.ok) return null
  const { symbol } = nativeAsset(usable.network)
  return (
    <p className="mt-2 text-sm">
      {usable.way === 'transaction_then_proof' && (
        <Trans>Two steps: a transaction, then a free signature</Trans>
      )}
      {usable.way === 'signed_transfer' && (
        <Trans>One transaction. You pay the network fee in {symbol}.</Trans>
      )}
      {usable.way === 'sponsored' && (
        <Trans>One signature. The merchant pays the network fee.</Trans>
      )}
      {usable.way === 'permit' && (
        <Trans>
          Allow Permit2: you pay that network fee. Then sign: the merchant pays the second.
        </Trans>
      )}
      {usable.way === 'transaction' && <Trans>One transaction with a memo</Trans>}
      {usable.way === 'authorization' && (
        <Trans>One signature. The merchant pays the network fee.</Trans>
      )}
    </p>
  )
}

function Holding({
  account,
  asset,
  balance,
}: {
  account: ConnectedAccount | undefined
  asset: Asset | undefined
  balance: bigint | undefined
}) {
  if (!account || !asset || balance === undefined) return null
  return (
    <p className="mt-1 text-sm text-muted">
      <Trans>
        You have <Amount atomic={balance} decimals={asset.decimals} symbol={asset.symbol} /> in{' '}
        {account.walletName}
      </Trans>
    </p>
  )
}

/** A way to pay, for the wallets that are connected. */
type PayableOption = {
  paymentOption: PaymentOption
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
  const options = offers.map((paymentOption) => {
    const byTerms = validateTerms(paymentOption.terms, networks)
    const family = byTerms.network && familyOf(byTerms.network.network)
    const account = accounts.find((each) => each.family === family)
    return { paymentOption, byTerms, account }
  })
  const queries = useQueries({
    queries: options.map(({ byTerms, account }) =>
      balancesQuery(byTerms.ok ? byTerms.network : undefined, account?.address),
    ),
  })
  const read = options.map(({ paymentOption, byTerms, account }, index): PayableOption => {
    const balanceOf = (currency: Asset) =>
      queries[index]?.data?.find(({ asset }) => asset.address === currency.address)?.atomic
    const payer = account && { address: account.address, balance: balanceOf }
    const usable = validateForPayer(paymentOption.terms, byTerms, payer)
    const balance = byTerms.asset && balanceOf(byTerms.asset)
    return { paymentOption, supported: byTerms.ok, usable, account, balance }
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
