import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { stringifyJson } from '#contract/json.ts'
import { useNetwork } from '../../api/use-config.ts'
import { fullReceiptOf, receiptOf } from '../form/receipt.ts'
import type { PaymentState } from '../machine.ts'
import { Button } from '../../ui/Button.tsx'
import { saveFile } from '../../ui/CopyButton.tsx'
import { Icon } from '../../ui/Icon.tsx'

export type ReceiptButtonsProps = {
  state: PaymentState
  primary: boolean
  /** Another account signed and paid the transaction: its bytes show nothing that the payer signed, so there is no file. */
  paperOnly?: boolean
}

/** The receipt on paper and as a file that anyone can check: its signature without a network, its place in the chain with one. */
export function ReceiptButtons({ state, primary, paperOnly = false }: ReceiptButtonsProps) {
  const network = useNetwork(state.order.network)
  const [busy, setBusy] = useState(false)
  if (!receiptOf(state) || !network) return null

  async function download() {
    if (!network) return
    setBusy(true)
    const receipt = await fullReceiptOf(state, network).finally(() => setBusy(false))
    if (!receipt) return
    saveFile(
      new Blob([`${stringifyJson(receipt)}\n`], { type: 'application/json' }),
      `receipt-${receipt.paymentId}.json`,
    )
  }

  return (
    <>
      <Button
        icon={<Icon className="max-sm:hidden" name="print" />}
        onClick={() => window.print()}
        variant={primary ? 'primary' : 'secondary'}
      >
        <Trans>Print receipt</Trans>
      </Button>
      {!paperOnly && (
        <Button
          busy={busy}
          icon={<Icon className="max-sm:hidden" name="download" />}
          onClick={() => void download()}
        >
          <Trans>Receipt as JSON</Trans>
        </Button>
      )}
    </>
  )
}
