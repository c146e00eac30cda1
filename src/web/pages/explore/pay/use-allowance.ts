import { useCallback, useEffect, useRef, useState } from 'react'
import { isPaid } from '../../../payment-flow/machine.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { openAllowance } from './runs.ts'
import type { Purchase } from './purchase.ts'

const LOOK_AGAIN_MS = 2_000
const LATE_LOOKS = 10

type Allowance = 'reading' | 'unread' | 'missing' | 'enough' | 'held'

export type AllowanceView = {
  allowance: Allowance
  /** Reads the current allowance again. */
  look: () => void
  /** Starts a new allowance after the previous one ended. */
  renew: () => void
  run: PaymentRun | undefined
}

/**
 * Reads what Permit2 may take of the payer's token, prepares the allowance, and builds the payment
 * once it exists.
 */
export function useAllowance(visit: Purchase, payment: PaymentRun): AllowanceView {
  const { order } = payment.state()
  const network = useNetwork(order.network)
  const [allowance, setAllowance] = useState<Allowance>('reading')
  const [run, setRun] = useState<PaymentRun>()
  const [turn, setTurn] = useState(0)
  const begun = useRef<PaymentRun>(undefined)
  const late = useRef(0)
  const look = useCallback(() => setTurn((count) => count + 1), [])
  const renew = useCallback(() => {
    begun.current = undefined
    look()
  }, [look])

  useEffect(() => {
    if (!network) return
    let current = true
    void judge()

    async function judge() {
      try {
        const { readAllowance } = await import('../../../payment-flow/messages.ts')
        if (!network) return
        const allowed = await readAllowance(network, order.asset.address, order.sender)
        if (!current) return
        if (allowed >= order.amountAtomic) {
          setAllowance('enough')
          return void payment.build()
        }
        // A fresh allowance is not requested again because a node lags; a failed one, only if the
        // reader asks for it.
        const before = begun.current?.state()
        if (before && isPaid(before) && late.current++ < LATE_LOOKS)
          return void setTimeout(() => current && look(), LOOK_AGAIN_MS)
        if (before?.step === 'failed') return
        const opened = await openAllowance(visit, order)
        if (!current) return
        setAllowance(opened === 'held' ? 'held' : 'missing')
        // Until that tab is closed, or its allowance exists.
        if (opened === 'held') return void setTimeout(() => current && look(), LOOK_AGAIN_MS)
        begun.current = opened
        setRun(opened)
        if (opened.state().step === 'draft') void opened.build()
      } catch {
        if (current) setAllowance('unread')
      }
    }
    return () => {
      current = false
    }
  }, [network, order, payment, turn, visit, look])

  return { allowance, look, renew, run }
}
