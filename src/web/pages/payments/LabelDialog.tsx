import { useQuery } from '@tanstack/react-query'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useId, useState, type FormEvent } from 'react'
import { describeError } from '../../errors/codes.ts'
import { labelsQuery } from '../../api/notes.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'

export type LabelDialogProps = {
  count: number
  open: boolean
  onClose: () => void
  /** @throws ApiError */
  onLabel: (label: string, what: 'add' | 'remove') => Promise<void>
}

/** Puts one label on all selected payments, or takes it off them. */
export function LabelDialog({ count, open, onClose, onLabel }: LabelDialogProps) {
  const { t } = useLingui()
  const list = useId()
  const { data: labels = [] } = useQuery({ ...labelsQuery, enabled: open })
  const [label, setLabel] = useState('')
  const [what, setWhat] = useState<'add' | 'remove'>('add')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const wrong = /[,\p{Cc}]/u.test(label) ? <Trans>A label has no commas.</Trans> : undefined

  async function submit(event: FormEvent) {
    event.preventDefault()
    if (wrong || label.trim() === '' || busy) return
    setBusy(true)
    setProblem(undefined)
    try {
      await onLabel(label.trim(), what)
      setLabel('')
      onClose()
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog
      description={<Trans>Only your side sees labels. They are part of exports.</Trans>}
      onClose={onClose}
      open={open}
      size="sm"
      title={<Plural one="Label # payment" other="Label # payments" value={count} />}
    >
      <form className="grid gap-4" onSubmit={(event) => void submit(event)}>
        <Segmented
          label={t`What`}
          onChange={setWhat}
          options={[
            { value: 'add', label: t`Add` },
            { value: 'remove', label: t`Take off` },
          ]}
          value={what}
        />
        <Field error={wrong} label={<Trans>Label</Trans>}>
          <Input
            list={list}
            maxLength={40}
            onChange={(event) => setLabel(event.target.value)}
            value={label}
          />
        </Field>
        <datalist id={list}>
          {labels.map((each) => (
            <option key={each.label} value={each.label}>
              {each.label}
            </option>
          ))}
        </datalist>
        {problem !== undefined && (
          <Banner role="alert" tone="bad">
            {describeError(problem).title}
          </Banner>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} disabled={label.trim() === ''} type="submit" variant="primary">
            {what === 'add' ? <Trans>Add label</Trans> : <Trans>Take label off</Trans>}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
