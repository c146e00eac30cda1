import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useState } from 'react'
import { familyOf } from '#contract/network.ts'
import type { Eip3009Payload } from '#x402/authorization.ts'
import type { PaymentRun } from '../../../payment/run.ts'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { openConnectDialog, useAccounts } from '../../../wallet/accounts.ts'
import type { Expected } from '../local-checks.ts'

const SettleFlow = lazy(() => import('./SettleFlow.tsx').then((module) => ({ default: module.SettleFlow })))

export type SettleCardProps = {
  header: string
  proof: Eip3009Payload
  expected: Expected
  /** Told `true` when a settlement began, `false` when it was left. */
  onBegun: (begun: boolean) => void
  onSettled: () => void
}

/** For a payee who settles without a facilitator: the payer has signed, the payee sends it and pays the network. */
export function SettleCard({ header, proof, expected, onBegun, onSettled }: SettleCardProps) {
  const { t } = useLingui()
  const account = useAccounts().find(({ family }) => family === familyOf(expected.network.network))
  const [run, setRun] = useState<PaymentRun>()
  const [trouble, setTrouble] = useState<string>()
  const [busy, setBusy] = useState(false)
  const mine = account?.address === expected.wallet

  async function start() {
    if (!account) return
    setBusy(true)
    setTrouble(undefined)
    try {
      const { beginSettlement } = await import('./begin-settlement.ts')
      const begun = await beginSettlement({ header, proof, expected, walletName: account.walletName })
      setRun(begun)
      onBegun(true)
      await begun.build()
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : t`The transaction could not be prepared.`)
    } finally {
      setBusy(false)
    }
  }

  function leave() {
    setRun(undefined)
    onBegun(false)
  }

  if (run) {
    return (
      <Suspense>
        <SettleFlow onDone={onSettled} onLeave={leave} run={run} />
      </Suspense>
    )
  }
  return (
    <Card
      subtitle={<Trans>You send the payer’s authorization yourself and pay the network fee. It needs your wallet, and no facilitator.</Trans>}
      title={<Trans>Settle it myself</Trans>}
    >
      {trouble && (
        <Banner className="mb-4" role="alert" tone="warn">
          {trouble}
        </Banner>
      )}
      {account && !mine && (
        <p className="mb-3 text-sm text-warn-ink">
          <Trans>Your wallet is on another account than the one that is to be paid.</Trans>
        </p>
      )}
      {account ? (
        <Button busy={busy} disabled={!mine} icon={<Icon name="wallet" />} onClick={() => void start()}>
          <Trans>Prepare the transaction</Trans>
        </Button>
      ) : (
        <Button icon={<Icon name="wallet" />} onClick={() => openConnectDialog('evm')}>
          <Trans>Connect the receiving wallet</Trans>
        </Button>
      )}
    </Card>
  )
}
