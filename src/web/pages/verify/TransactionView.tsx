import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Family } from '#contract/address.ts'
import { useConfig } from '../../api/use-config.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { findTransaction, networksOf } from './chain-checks.ts'
import { ExpectedForm } from './ExpectedForm.tsx'
import { readExpected, startFields, type ExpectedProblems } from './expected.ts'
import { ResultCard } from './ResultCard.tsx'
import type { ProofResult } from './run-checks.ts'

/** A transaction, held against what the reader expected, by their own node alone. */
export function TransactionView({ id, family }: { id: string; family: Family }) {
  const { t } = useLingui()
  const { networks: all, sellerWallets } = useConfig()
  const networks = networksOf(all, family)
  const [fields, setFields] = useState(() => startFields(undefined, networks, sellerWallets))
  const [problems, setProblems] = useState<ExpectedProblems>({})
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<ProofResult>()

  async function run() {
    const read = readExpected(fields, all)
    setProblems(read.ok ? {} : read.problems)
    if (!read.ok) return
    setBusy(true)
    const view = await findTransaction(id, read.expected, { payer: null, memo: null }).catch(
      (error: unknown) => ({
        checks: [],
        settled: false,
        absent: false,
        transaction: id,
        undecided: error instanceof Error ? error.message : t`The check could not be made.`,
      }),
    )
    setBusy(false)
    const undecided = view.absent
      ? t`Your node does not know this transaction. It may be on another network, or not there yet.`
      : view.undecided
    setResult({
      ...view,
      vouched: false,
      undecided,
      paymentId: null,
      already: false,
      signIn: false,
    })
  }

  if (networks.length === 0) {
    return (
      <Banner tone="warn">
        <Trans>No network of this kind is configured.</Trans>
      </Banner>
    )
  }
  return (
    <>
      <Card
        subtitle={
          <Trans>
            Without a memo or a resource, a transaction tells what was paid, not what for.
          </Trans>
        }
        title={
          family === 'evm' ? (
            <Trans>A transaction on Ethereum</Trans>
          ) : (
            <Trans>A transaction on Solana</Trans>
          )
        }
      >
        <ExpectedForm
          fields={fields}
          many
          onChange={(next) => {
            setFields(next)
            setResult(undefined)
          }}
          problems={problems}
        />
        <Button
          busy={busy}
          className="mt-5"
          icon={<Icon name="shield" />}
          onClick={() => void run()}
          variant="primary"
        >
          <Trans>Ask my node</Trans>
        </Button>
      </Card>
      {result && (
        <ResultCard
          network={all.find(({ network }) => network === fields.network)}
          result={result}
        />
      )}
    </>
  )
}
