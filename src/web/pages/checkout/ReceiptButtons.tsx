import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { stringifyJson } from '#contract/json.ts'
import { useNetwork } from '../../api/use-config.ts'
import { fullReceiptOf, receiptOf } from '../../payment-flow/form/receipt.ts'
import type { PaymentState } from '../../payment-flow/machine.ts'
import { Button } from '../../ui/Button.tsx'
import { saveFile } from '../../ui/CopyButton.tsx'
import { Icon } from '../../ui/Icon.tsx'

/** The receipt on paper and as a file that anyone can check: its signature without a network, its place in the chain with one. */
export function ReceiptButtons({ state, primary }: { state: PaymentState; primary: boolean }) {
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
      <Button
        busy={busy}
        icon={<Icon className="max-sm:hidden" name="download" />}
        onClick={() => void download()}
      >
        <Trans>Receipt as JSON</Trans>
      </Button>
    </>
  )
}
