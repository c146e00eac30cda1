import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect } from 'react'
import { familyOf, nativeAsset } from '#contract/network.ts'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import { announce } from '../../ui/announce.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { useAccounts } from '../../wallet/state/accounts.ts'
import { useFoundWallets } from '../../wallet/state/discover.ts'
import { lacksFee, type RankedOption } from './payable-options.ts'

export type PayElsewhereProps = {
  /** What the connected wallet cannot pay. */
  short: RankedOption
  /** On networks of another family, which it may pay. */
  other: OpenLink
  onPay: () => void
}

/** The connected wallet holds too little: it, or another wallet, may have the money on the other networks. */
export function PayElsewhere({ short, other, onPay }: PayElsewhereProps) {
  const { t } = useLingui()
  const accounts = useAccounts()
  const found = useFoundWallets()
  const { network, asset } = short.link
  const [family, otherFamily] = [familyOf(network.network), familyOf(other.network.network)]
  const account = accounts.find((each) => each.family === family)
  const { symbol } = lacksFee(short) ? nativeAsset(network) : asset
  const [wallet = '', place] = [account?.walletName, network.name]
  const text = t`Not enough ${symbol} in ${wallet} on ${place}`
  useEffect(() => announce(text), [text])
  const names = found.flatMap(({ ids, name }) => (ids[otherFamily] === undefined ? [] : [name]))
  const otherWallet =
    accounts.find((each) => each.family === otherFamily)?.walletName ??
    names.find((name) => name === wallet) ??
    names[0]
  const otherPlace = other.network.name
  return (
    <Banner
      action={
        otherWallet !== undefined && (
          <Button onClick={onPay}>
            <Trans>
              Pay with {otherWallet} on {otherPlace}
            </Trans>
          </Button>
        )
      }
      className="mb-4"
      title={text}
      tone="warn"
    />
  )
}
