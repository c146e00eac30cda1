import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { stringifyJson } from '#contract/json.ts'
import type { Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { paymentEndpoints } from '#contract/payment-endpoints.ts'
import { passToPage } from '../../api/page-transfer.ts'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { CopyButton, saveFile } from '../../ui/CopyButton.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { recordedReceiptOf, useOnChainVerification } from './on-chain-verification.ts'

/** What a reader takes along: a receipt once the chain bears the payment out, another verification, the same reading as a command. */
export function ReceiptCard({
  payment,
  network,
}: {
  payment: PaymentStatusBody
  network: Network
}) {
  const { t } = useLingui()
  const { data: verification } = useOnChainVerification(payment, network)
  const [busy, setBusy] = useState(false)
  const receipt = recordedReceiptOf(payment)
  const proven = verification?.kind === 'matches' && receipt !== undefined

  async function download() {
    if (!receipt) return
    setBusy(true)
    const [{ withSigned }, { provable }] = await Promise.all([
      import('../../payment-flow/form/receipt.ts'),
      import('../../payment-view/receipt-checks.ts'),
    ])
    const whole = provable(await withSigned(receipt, network).finally(() => setBusy(false)))
    saveFile(
      new Blob([`${stringifyJson(whole)}\n`], { type: 'application/json' }),
      `receipt-${payment.paymentId}.json`,
    )
  }

  return (
    <Card className="no-print" title={receipt ? <Trans>Receipt</Trans> : <Trans>Verify</Trans>}>
      <div className="flex flex-col items-start gap-2">
        {receipt && (
          <>
            <Button
              disabled={!proven}
              icon={<Icon name="print" />}
              onClick={() => window.print()}
              size="sm"
            >
              <Trans>Print receipt</Trans>
            </Button>
            <Button
              busy={busy}
              disabled={!proven}
              icon={<Icon name="download" />}
              onClick={() => void download()}
              size="sm"
            >
              <Trans>Receipt as JSON</Trans>
            </Button>
            {!proven && (
              <p className="text-xs text-muted">
                <Trans>Available after your RPC endpoint confirms.</Trans>
              </p>
            )}
          </>
        )}
        <Button
          icon={<Icon name="shield" />}
          onClick={() => {
            passToPage('verify', payment.paymentProof ?? payment.paymentId)
            navigate(pathTo('verify', {}))
          }}
          size="sm"
        >
          <Trans>Verify again</Trans>
        </Button>
        <CopyButton label={t`Copy as curl`} text value={curlOf(payment.paymentId)} />
      </div>
    </Card>
  )
}

/** The service's own call for a payment's status. The key is a placeholder: no key is ever known to a browser. */
function curlOf(paymentId: string): string {
  const path = paymentEndpoints.paymentStatus.path.replace(
    ':paymentId',
    encodeURIComponent(paymentId),
  )
  return [
    `curl "$PAYDESK_URL${path}"`,
    `  -H "Authorization: Bearer $PAYDESK_KEY"`,
    `  -H "Accept: application/json"`,
  ].join(' \\\n')
}
