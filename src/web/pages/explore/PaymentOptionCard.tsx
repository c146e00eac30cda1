import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { familyOf, nativeAsset, type Asset } from '#contract/network.ts'
import type { ClientPayment as Terms } from '#x402/client/order.ts'
import { useConfig } from '../../api/use-config.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import {
  openConnectDialog,
  useAccounts,
  type ConnectedAccount,
} from '../../wallet/state/accounts.ts'
import { balancesQuery } from '../../payment-flow/steps/balance.ts'
import type { PaymentOption } from './request/challenge.ts'
import {
  validateForPayer,
  validateTerms,
  UNUSABLE,
  type Usable,
  type Way,
} from './request/usable.ts'

export type PaymentOptionCardProps = {
  offer: PaymentOption
  onPay: (offer: PaymentOption, payer: { account: ConnectedAccount; way: Way }) => void
  busy: boolean
  /** The way on, if the reader has no other wish. */
  first: boolean
}

/** One way to pay: what it costs, what of it the reader has, and what they would be asked to do; or why it cannot be paid here. */
export function PaymentOptionCard({ offer, onPay, busy, first }: PaymentOptionCardProps) {
  const { terms } = offer
  const { usable, account, balance } = useUsable(terms)
  const { t } = useLingui()
  const { network, asset } = usable
  const family = network && familyOf(network.network)
  const look = first ? 'primary' : 'secondary'
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3 px-5 py-4">
      <div className="min-w-0 flex-1 basis-72">
        {asset ? (
          <Amount
            atomic={terms.amountAtomic}
            decimals={asset.decimals}
            exact
            size="lg"
            symbol={asset.symbol}
          />
        ) : (
          <span className="figures text-lg font-semibold break-all">
            <Trans>{terms.amountAtomic.toString()} units of an unknown asset</Trans>
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
          <Button
            icon={<Icon name="wallet" />}
            onClick={() => openConnectDialog(family)}
            variant={look}
          >
            <Trans>Connect to pay</Trans>
          </Button>
        )}
        {usable.ok && account && (
          <Button
            busy={busy}
            icon={<Icon name="pay" />}
            onClick={() => onPay(offer, { account, way: usable.way })}
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
  const { name, symbol } = nativeAsset(usable.network)
  return (
    <p className="mt-2 text-sm">
      {usable.way === 'transaction_then_proof' && (
        <Trans>You send one transaction, then sign a free proof of it.</Trans>
      )}
      {usable.way === 'signed_transfer' && (
        <Trans>
          You sign one transaction. The seller sends it; you pay the network fee in {symbol}.
        </Trans>
      )}
      {usable.way === 'sponsored' && (
        <Trans>
          You sign one transaction. The seller sends it and pays the network fee; you need no {name}
          .
        </Trans>
      )}
      {usable.way === 'permit' && (
        <Trans>
          You sign once. The seller sends it and pays the network fee. Before it, you let Permit2
          take exactly this amount, in a transaction of yours.
        </Trans>
      )}
      {usable.way === 'transaction' && (
        <Trans>You send one transaction. Its memo is the proof.</Trans>
      )}
      {usable.way === 'authorization' && (
        <Trans>
          You sign once. The seller sends it and pays the network fee; you need no {name}.
        </Trans>
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

function useUsable(terms: Terms): {
  usable: Usable
  account: ConnectedAccount | undefined
  balance: bigint | undefined
} {
  const { networks } = useConfig()
  const byTerms = validateTerms(terms, networks)
  const { network, asset } = byTerms
  const account = useAccounts().find(
    ({ family }) => network && family === familyOf(network.network),
  )
  const balances = useQuery(balancesQuery(byTerms.ok ? network : undefined, account?.address)).data
  const balanceOf = (wanted: Asset) =>
    balances?.find((each) => each.asset.address === wanted.address)?.atomic
  const usable = validateForPayer(
    terms,
    byTerms,
    account && { address: account.address, balance: balanceOf },
  )
  return { usable, account, balance: asset && balanceOf(asset) }
}
