import { stringifyJson } from '#contract/json.ts'
import type { PaymentState } from '../../payment/machine.ts'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { receiptOf } from './receipt.ts'

/** The receipt on paper and as a file that anyone can check against the chain. */
export function ReceiptButtons({ state }: { state: PaymentState }) {
  const receipt = receiptOf(state)
  if (!receipt) return null

  function download() {
    const url = URL.createObjectURL(new Blob([`${stringifyJson(receipt)}\n`], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `receipt-${receipt?.paymentId}.json`
    link.click()
    URL.revokeObjectURL(url)
  }

  return (
    <>
      <Button icon={<Icon name="table" />} onClick={() => window.print()}>
        Print receipt
      </Button>
      <Button icon={<Icon name="external" />} onClick={download}>
        Receipt as JSON
      </Button>
    </>
  )
}
