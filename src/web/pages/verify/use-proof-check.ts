import { t } from '@lingui/core/macro'
import { useState } from 'react'
import { serverNow } from '../../api/clock.ts'
import { rememberMispaid, type Mispaid } from '../../payment-view/mispaid.ts'
import type { Expected } from './proof/local-checks.ts'
import { checkAndAccept, checkOnly, type ProofQuestion, type ProofResult } from './run-checks.ts'
import type { Accepting } from './proof/service-checks.ts'
import { mispaidOf } from './refund.ts'

/** How a proof is checked: as far as it uses nothing up, with the service where it may be asked; or to the end. */
export type How = { kind: 'check'; askService: boolean } | { kind: 'accept'; accepting: Accepting }

/** What was asked of a proof last, and what came of it. */
export type ProofCheckState = {
  busy: How['kind'] | null
  asked: Expected | undefined
  result: ProofResult | undefined
  /** It came, in another amount than was asked for. */
  mispaid: Mispaid | undefined
  userError: string | undefined
  run: (question: ProofQuestion, how: How) => Promise<void>
  /** What was found is of other questions than the form asks now. */
  forget: () => void
}

export function useProofCheck(): ProofCheckState {
  const [busy, setBusy] = useState<How['kind'] | null>(null)
  const [asked, setAsked] = useState<Expected>()
  const [found, setFound] = useState<{ result: ProofResult; mispaid: Mispaid | undefined }>()
  const [userError, setUserError] = useState<string>()

  async function run(question: ProofQuestion, how: How) {
    setBusy(how.kind)
    setAsked(question.expected)
    setUserError(undefined)
    try {
      const result =
        how.kind === 'check'
          ? await checkOnly(question, how.askService)
          : await checkAndAccept(question, how.accepting)
      const mispaid = mispaidOf(
        { ...result, payer: question.facts.payer },
        question.expected,
        serverNow(),
      )
      if (mispaid) rememberMispaid(mispaid)
      setFound({ result, mispaid })
    } catch (error) {
      setUserError(error instanceof Error ? error.message : t`The check could not be made.`)
    } finally {
      setBusy(null)
    }
  }

  return {
    busy,
    asked,
    result: found?.result,
    mispaid: found?.mispaid,
    userError,
    run,
    forget: () => setFound(undefined),
  }
}
