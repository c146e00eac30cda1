import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { UnmatchedTransfer } from '#contract/unmatched-endpoints.ts'
import { call } from '../../api/client.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { orderTexts } from '../../payment-view/describe-row.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { announce } from '../../ui/announce.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Field } from '../../ui/Field.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'

export type Candidate = UnmatchedTransfer['candidates'][number]
export type PendingAssignment = { transfer: UnmatchedTransfer; candidate: Candidate }

type AssignDialogProps = {
  assignment: PendingAssignment
  onAssigned: () => void
  onClose: () => void
}

/** Says what assigning does, and what it does not, before it is done. */
export function AssignDialog({
  assignment: { transfer, candidate },
  onAssigned,
  onClose,
}: AssignDialogProps) {
  const { t } = useLingui()
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()

  async function assign() {
    setBusy(true)
    setProblem(undefined)
    try {
      const body = { paymentId: candidate.paymentId, ...(note.trim() && { note: note.trim() }) }
      await call(
        'unmatchedAssign',
        { params: { transferId: transfer.transferId }, body },
        { idempotencyKey: crypto.randomUUID() },
      )
      announce(t`Payment assigned`)
      onAssigned()
      onClose()
    } catch (error) {
      setProblem(joinMessage(describeError(error)))
      setBusy(false)
    }
  }

  return (
    <Dialog
      footer={
        <>
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} onClick={() => void assign()} variant="primary">
            <Trans>Assign</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      title={<Trans>Assign</Trans>}
    >
      <Banner role="note" tone="warn">
        <Trans>The order stays unpaid. You can undo this.</Trans>
      </Banner>
      <Facts className="mt-4">
        <Fact name={t`Amount`}>
          <Amount
            atomic={transfer.amountAtomic}
            decimals={transfer.decimals}
            exact
            symbol={transfer.symbol}
          />
        </Fact>
        <Fact name={t`From`} long>
          <Address full value={transfer.sender} />
        </Fact>
        <Fact name={t`Order`} long>
          {orderTexts(candidate).map((text) => (
            <span className="block" key={text}>
              <UntrustedText text={text} />
            </span>
          ))}
          <Address full noun="payment id" value={candidate.paymentId} />
        </Fact>
      </Facts>
      <div className="mt-4">
        <Field hint={<Trans>Visible to your team.</Trans>} label={<Trans>Note</Trans>} optional>
          <TextArea
            maxLength={1000}
            onChange={(event) => setNote(event.target.value)}
            rows={2}
            value={note}
          />
        </Field>
      </div>
      {problem && (
        <Banner className="mt-4" role="alert" tone="bad">
          {problem}
        </Banner>
      )}
    </Dialog>
  )
}
