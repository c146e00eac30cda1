import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useState } from 'react'
import { familyOf } from '#contract/network.ts'
import { errorSentence } from '../../../errors/codes.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { Address } from '../../../ui/Address.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { openConnectDialog, useAccounts } from '../../../wallet/state/accounts.ts'
import type { ProofFacts } from '../proof/facts.ts'
import type { Expected } from '../proof/local-checks.ts'
import { settleKindOf, walletOf, type SettleKind } from './kinds.ts'
import { KINDS } from './words.ts'

const SettleFlow = lazy(() =>
  import('./SettleFlow.tsx').then((module) => ({ default: module.SettleFlow })),
)

export type SettleCardProps = {
  header: string
  facts: ProofFacts
  expected: Expected
  /** The payee has the money by now: only a receipt is left to be written. */
  settled: boolean
  /** Told `true` when a settlement began, `false` when it was left. */
  onBegun: (begun: boolean) => void
  /** Told the transaction that settled it. */
  onSettled: (transaction: string | undefined) => void
}

/** For a payee who settles without a facilitator: the payer has signed, the payee does the rest. */
export function SettleCard(props: SettleCardProps) {
  const { facts, expected, settled } = props
  const settleKind = settleKindOf(facts, expected.wallet)
  if (typeof settleKind === 'string')
    return settleKind !== 'acknowledge' || settled ? (
      <Settling kind={settled ? 'acknowledge' : settleKind} {...props} />
    ) : null
  if (settleKind.kind === 'unreadable' || settled) return null
  return (
    <Card title={<Trans>Settle it myself</Trans>}>
      <p className="text-sm text-muted">
        <Trans>
          Only <Address copy value={settleKind.feePayer} />, the fee payer, can settle this.
        </Trans>
      </p>
    </Card>
  )
}

function Settling({
  kind,
  header,
  facts,
  expected,
  onBegun,
  onSettled,
}: SettleCardProps & { kind: SettleKind }) {
  const { t } = useLingui()
  const account = useAccounts().find(({ family }) => family === familyOf(expected.network.network))
  const [run, setRun] = useState<PaymentRun>()
  const [userError, setUserError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const family = walletOf(kind, expected.network)
  const mine = family === null || account?.address === expected.wallet
  const { title, body, button } = KINDS[kind]

  async function start() {
    setBusy(true)
    setUserError(undefined)
    try {
      const { beginSettlement } = await import('./runs.ts')
      const begun = await beginSettlement(
        { header, facts, expected },
        kind,
        family === null ? '' : (account?.walletName ?? ''),
      )
      if (begun === 'held')
        return setUserError(t`Open in another tab. Continue there, or close it.`)
      setRun(begun)
      onBegun(true)
      if (begun.state().step === 'draft') await begun.build()
    } catch (error) {
      setUserError(errorSentence(error, t`Transaction not prepared.`))
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
        <SettleFlow onDone={() => onSettled(landedOf(run))} onLeave={leave} run={run} />
      </Suspense>
    )
  }
  return (
    <Card subtitle={t(body)} title={t(title)}>
      {userError && (
        <Banner className="mb-4" role="alert" tone="warn">
          {userError}
        </Banner>
      )}
      {account && !mine && (
        <p className="mb-3 text-sm text-warn-ink">
          <Trans>Switch to the recipient’s account.</Trans>
        </p>
      )}
      {account || family === null ? (
        <Button
          busy={busy}
          disabled={!mine}
          icon={<Icon name={family === null ? 'arrowOut' : 'wallet'} />}
          onClick={() => void start()}
        >
          {t(button)}
        </Button>
      ) : (
        <Button icon={<Icon name="wallet" />} onClick={() => openConnectDialog(family)}>
          <Trans>Connect the receiving wallet</Trans>
        </Button>
      )}
    </Card>
  )
}

/** A note on the chain settles nothing, and is no transaction of the payer's. */
function landedOf(run: PaymentRun): string | undefined {
  const state = run.state()
  return 'landed' in state && state.order.operation?.kind === 'settle'
    ? state.landed?.signature
    : undefined
}
