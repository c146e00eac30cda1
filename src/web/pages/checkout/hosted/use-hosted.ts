import { useEffect, useReducer, useRef } from 'react'
import type { Network } from '#contract/network.ts'
import type { ConnectedAccount } from '../../../wallet/state/accounts.ts'
import { isOut, reduceHosted, type HostedState } from './machine.ts'
import { deliver, prepare, signIntent, undelivered, type HostedOrder } from './send.ts'

const ASK_AGAIN_MS = 5_000

export type Hosted = {
  state: HostedState
  prepare: (order: HostedOrder) => void
  sign: (network: Network, signer: ConnectedAccount) => void
  change: () => void
}

/** Drives one payment from a managed wallet; one that an earlier visit left open first. */
export function useHosted(): Hosted {
  const [state, dispatch] = useReducer(reduceHosted, { step: 'form', userError: null })
  const shown = useRef(true)
  useEffect(() => {
    shown.current = true
    void undelivered().then((send) => {
      if (!send || !shown.current) return
      for (const event of [
        { type: 'prepare' },
        { type: 'prepared', intent: send.intent },
        { type: 'sign' },
        { type: 'signed', signature: send.signature },
      ] as const)
        dispatch(event)
    })
    return () => {
      shown.current = false
    }
  }, [])

  // What is signed goes out at once, and while its answer is missing again and again: always the same request.
  const out = isOut(state) ? state : undefined
  // Both are the same ones while it is out: `sending` and `unknown` are one request, so this runs once a payment.
  const [intent, signature] = [out?.intent, out?.signature]
  useEffect(() => {
    if (!intent || signature === undefined) return
    const send = { nonce: intent.nonce, intent, signature }
    let timer: ReturnType<typeof setTimeout> | undefined
    let current = true
    const attempt = async () => {
      const event = await deliver(send)
      if (!current) return
      dispatch(event)
      if (event.type === 'no_answer') timer = setTimeout(() => void attempt(), ASK_AGAIN_MS)
    }
    void attempt()
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [intent, signature])

  return {
    state,
    prepare: (order) => {
      dispatch({ type: 'prepare' })
      void prepare(order).then(dispatch)
    },
    sign: (network, signer) => {
      if (state.step !== 'review') return
      dispatch({ type: 'sign' })
      void signIntent(state.intent, network, signer).then(dispatch)
    },
    change: () => dispatch({ type: 'change' }),
  }
}
