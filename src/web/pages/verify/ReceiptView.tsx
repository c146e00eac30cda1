import { Trans, useLingui } from '@lingui/react/macro'
import { useMemo, useState } from 'react'
import type { Receipt } from '#contract/receipt.ts'
import { findAsset } from '#contract/network.ts'
import { useConfig } from '../../api/use-config.ts'
import { errorSentence } from '../../errors/codes.ts'
import { formatQuantity } from '../../payment-flow/format-quantity.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { findTransaction } from './chain-checks.ts'
import { CheckList } from './CheckList.tsx'
import { isOnlyPurposeOpen } from '../../payment-view/check.ts'
import { checkReceipt } from '../../payment-view/receipt-checks.ts'
import { ResultCard } from './ResultCard.tsx'
import type { ProofResult } from './run-checks.ts'

/**
 * A receipt: first checked against its own bytes, without any network; then, if the reader wants,
 * against their node.
 */
export function ReceiptView({ receipt }: { receipt: Receipt }) {
  const { t } = useLingui()
  const { networks } = useConfig()
  const network = networks.find((each) => each.network === receipt.network)
  const asset = network && findAsset(network, receipt.asset)
  const checks = useMemo(() => checkReceipt(receipt), [receipt])
  const quantity = formatQuantity(receipt.quantity)
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<ProofResult>()
  const bad = checks.some(({ state }) => state === 'bad')
  const paymentHolds = isOnlyPurposeOpen(checks)
  const open = checks.some(({ state }) => state === 'open')

  async function requestReceipt() {
    if (!network || !asset) return
    setBusy(true)
    const expected = {
      network,
      asset,
      wallet: receipt.recipient,
      amountAtomic: BigInt(receipt.amountAtomic),
      resource: null,
      memo: null,
    }
    // Without the payer's bytes it may be a submitted proof, which has its own memo.
    const memo = receipt.network.startsWith('solana:') && receipt.signed ? receipt.paymentId : null
    const view = await findTransaction(receipt.transaction, expected, {
      payer: receipt.payer,
      memo,
    }).catch((error: unknown) => ({
      checks: [],
      settled: false,
      absent: false,
      transaction: receipt.transaction,
      undecided: errorSentence(error, t`The check failed.`),
    }))
    setBusy(false)
    const undecided = view.absent ? t`Not found on your RPC endpoint.` : view.undecided
    // The chain has answered what the receipt's own bytes left open, except what the payment is for.
    const known = checks.filter(({ state, name }) => state !== 'open' || name === 'resource')
    setResult({
      ...view,
      checks: [...known, ...view.checks],
      vouched: false,
      undecided,
      paymentId: null,
      already: false,
      signIn: false,
    })
  }

  return (
    <>
      <Card
        action={
          <Badge tone={bad ? 'bad' : open && !paymentHolds ? 'warn' : 'good'}>
            {bad ? (
              <Trans>Does not match</Trans>
            ) : paymentHolds ? (
              <Trans>Payment adds up</Trans>
            ) : open ? (
              <Trans>Partly checked</Trans>
            ) : (
              <Trans>Adds up</Trans>
            )}
          </Badge>
        }
        title={<Trans>The receipt</Trans>}
      >
        <Facts className="mb-5">
          <Fact name={<Trans>Amount</Trans>}>
            <Amount
              atomic={receipt.amountAtomic}
              decimals={receipt.decimals}
              exact
              symbol={receipt.symbol}
            />
          </Fact>
          {quantity && <Fact name={<Trans>Quantity</Trans>}>{quantity}</Fact>}
          <Fact name={<Trans>From</Trans>} long>
            <Address copy full value={receipt.payer} />
          </Fact>
          <Fact name={<Trans>To</Trans>} long>
            <Address copy full value={receipt.recipient} />
          </Fact>
          <Fact name={<Trans>Network</Trans>}>{network?.name ?? receipt.network}</Fact>
          {receipt.resource && (
            <Fact name={<Trans>Pays for</Trans>} long>
              <UntrustedText className="break-all" text={receipt.resource} />
              <span className="block text-sm text-muted">
                <Trans>Only the merchant can confirm delivery.</Trans>
              </span>
            </Fact>
          )}
        </Facts>
        <CheckList checks={checks} />
        <p className="mt-4 text-sm text-muted empty:hidden">
          {receipt.signed && bad ? (
            <Trans>Receipt and bytes differ.</Trans>
          ) : receipt.signed ? (
            <Trans>Signed by the payer. Check the transaction.</Trans>
          ) : (
            !bad && <Trans>Not signed. Ask your RPC endpoint.</Trans>
          )}
        </p>
        {network && asset && !bad && (
          <Button
            busy={busy}
            className="mt-4"
            icon={<Icon name="shield" />}
            onClick={() => void requestReceipt()}
            variant="primary"
          >
            <Trans>Ask my RPC endpoint</Trans>
          </Button>
        )}
      </Card>
      {result && <ResultCard network={network} result={result} />}
    </>
  )
}
