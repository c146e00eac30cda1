import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import { formatAmount } from '#contract/amount.ts'
import type { RefundRequest } from '#contract/refund-request.ts'
import { call } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import { describeError } from '../errors/codes.ts'
import { joinMessage } from '../errors/row.ts'
import { Link } from '../router/Link.tsx'
import { pathTo } from '../router/paths.ts'
import { Amount } from '../ui/Amount.tsx'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field } from '../ui/Field.tsx'
import { TextArea } from '../ui/TextArea.tsx'
import { toast } from '../ui/Toast.tsx'
import { UntrustedText } from '../ui/UntrustedText.tsx'
import { buttonClass } from '../ui/button-class.ts'
import { formatAmountText } from '../ui/format-amount.ts'

/** What people of the account decide about a request: a refund through the same review as any payment, or a note that declines it. */
export function RefundRequestActions({
  request,
  primary,
}: {
  request: RefundRequest
  /** The refund is what its view is for, which shows the amount to everybody. */
  primary?: boolean
}) {
  const [declining, setDeclining] = useState(false)
  const { paymentId, amountAtomic, decimals, symbol, reason } = request
  const amount = `${formatAmountText(BigInt(amountAtomic), decimals).text} ${symbol}`
  return (
    <>
      <Link
        className={buttonClass({ size: 'sm', variant: primary ? 'primary' : 'secondary' })}
        to={pathTo('refund', {
          params: { paymentId },
          search: {
            amount: formatAmount(BigInt(amountAtomic), decimals),
            reason: reason ?? undefined,
          },
        })}
      >
        {primary ? <Trans>Refund {amount}</Trans> : <Trans>Refund</Trans>}
      </Link>
      <Button onClick={() => setDeclining(true)} size="sm" variant="quiet">
        <Trans>Decline</Trans>
      </Button>
      {declining && <DeclineDialog onClose={() => setDeclining(false)} request={request} />}
    </>
  )
}

/** A customer's words, marked as theirs. */
export function CustomerReason({ reason }: { reason: string | null }) {
  if (reason === null) return <Trans>No reason given.</Trans>
  return (
    <>
      <Trans>The customer wrote:</Trans>{' '}
      <q className="[overflow-wrap:anywhere]">
        <UntrustedText text={reason} />
      </q>
    </>
  )
}

function DeclineDialog({ request, onClose }: { request: RefundRequest; onClose: () => void }) {
  const { t } = useLingui()
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const params = { requestId: request.requestId }
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['refundRequests'] })

  async function reopen() {
    try {
      await call(
        'refundRequestReopen',
        { params, body: {} },
        { idempotencyKey: crypto.randomUUID() },
      )
    } catch (error) {
      toast(joinMessage(describeError(error)), { tone: 'bad' })
    }
    await refresh()
  }

  async function decline(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    const written = note.trim()
    try {
      await call(
        'refundRequestDecline',
        { params, body: written === '' ? {} : { note: written } },
        { idempotencyKey: crypto.randomUUID() },
      )
      toast(t`Refund request declined`, { undo: () => void reopen() })
      onClose()
      await refresh()
    } catch (error) {
      setProblem(joinMessage(describeError(error)))
      setBusy(false)
    }
  }

  const { amountAtomic, decimals, symbol } = request
  const amount = <Amount atomic={amountAtomic} decimals={decimals} exact symbol={symbol} />
  return (
    <Dialog
      description={<Trans>The customer asks for {amount}. No money moves.</Trans>}
      onClose={onClose}
      open
      title={<Trans>Decline</Trans>}
    >
      <form className="grid gap-4" onSubmit={(event) => void decline(event)}>
        <Field hint={<Trans>The customer reads it.</Trans>} label={<Trans>Note</Trans>} optional>
          <TextArea
            maxLength={500}
            onChange={(event) => setNote(event.target.value)}
            value={note}
          />
        </Field>
        {problem !== undefined && (
          <Banner role="alert" tone="bad">
            {problem}
          </Banner>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} type="submit" variant="primary">
            <Trans>Decline</Trans>
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
