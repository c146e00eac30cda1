import { useState } from 'react'
import { isApprovalOf, type ApprovedOperation } from '#contract/approval.ts'
import { callProxy } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { UserError } from '../payment-intent/intent.ts'
import { describeUserError, describeUnsigned } from '../errors/error-messages.ts'
import type { ConnectedAccount } from '../wallet/state/accounts.ts'
import { signalOf } from '../wallet/state/errors.ts'
import { loadWalletAdapter } from '../wallet/load-adapter.ts'

/**
 * What is to be signed, after the proxy wrote it and this browser compared it with what was
 * entered.
 */
export type ApprovalState = {
  id: string
  message: string
  signer: ConnectedAccount
  userError: UserError | null
}

export type Approving = {
  approval: ApprovalState | undefined
  busy: boolean
  /** Why it failed: the proxy's refusal. */
  problem: unknown
  /** Asks for the text to sign for an operation. */
  requestApproval: (operation: ApprovedOperation, signer: ConnectedAccount) => Promise<void>
  /** Asks the wallet, then executes what was signed. */
  sign: () => Promise<void>
  back: () => void
}

/**
 * A key is created or replaced only with a fresh signature of the operator's wallet: ask, read,
 * sign, act. Each signature is for one request.
 * @param act creates or replaces the key; what it throws is shown, and a new signature is needed
 */
export function useApproval(act: (approval: string) => Promise<void>): Approving {
  const [approval, setApproval] = useState<ApprovalState>()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()

  async function work(task: () => Promise<void>): Promise<void> {
    if (busy) return
    setBusy(true)
    setProblem(undefined)
    try {
      await task()
    } catch (error) {
      setProblem(error)
      setApproval(undefined)
    } finally {
      setBusy(false)
    }
  }

  return {
    approval,
    busy,
    problem,
    requestApproval: (operation, signer) =>
      work(async () => {
        const { id, message } = await callProxy('approval', {
          body: { signer: signer.address, operation },
        })
        // The text must match what was entered, or it is not signed.
        if (!isApprovalOf(message, operation, { origin: location.origin, wallet: signer.address }))
          throw new ApiError({ code: 'BAD_RESPONSE' })
        setApproval({ id, message, signer, userError: null })
      }),
    sign: () =>
      work(async () => {
        if (!approval) return
        const { id, message, signer } = approval
        const signature = await signText(signer, message)
        if (typeof signature !== 'string') return setApproval({ ...approval, userError: signature })
        await act(`${id} ${signature}`)
      }),
    back: () => {
      setApproval(undefined)
      setProblem(undefined)
    },
  }
}

async function signText(signer: ConnectedAccount, message: string): Promise<string | UserError> {
  try {
    const adapter = await loadWalletAdapter(signer.family)
    return await adapter.signMessage(signer, message)
  } catch (error) {
    // Signing a text sends nothing, whether or not it succeeded.
    const userError = describeUnsigned(signalOf(error), signer.walletName)
    return { ...userError, body: describeUserError('not_signed').body }
  }
}
