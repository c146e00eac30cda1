import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState, useId, type FormEvent } from 'react'
import { MOST_AT_ONCE, writeNotes, type NoteUpdate, labelsQuery } from '../../api/notes.ts'
import type { Viewer } from '../../api/queries.ts'
import { useRole } from '../../api/session.ts'
import { describeError } from '../../errors/codes.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { toast } from '../../ui/Toast.tsx'
import type { Selection } from './use-selection.ts'

/** The limit per call for sessions that are not the operator's. */
const OF_A_WALLET_AT_ONCE = 20

export type SelectionBarProps = { selection: Selection; viewer: Viewer; onExport: () => void }

/** Actions for the selected rows. It stays in view while the list scrolls. */
export function SelectionBar({ selection, viewer, onExport }: SelectionBarProps) {
  const { t } = useLingui()
  const [labelling, setLabelling] = useState(false)
  const [busy, setBusy] = useState(false)
  const writes = useRole() !== 'viewer'
  const count = selection.rows.size
  const write = (change: NoteUpdate) =>
    writeNotes(
      [...selection.rows.keys()],
      change,
      viewer.wallets === 'all' ? MOST_AT_ONCE : OF_A_WALLET_AT_ONCE,
    )

  async function reconcile(reconciled: boolean) {
    setBusy(true)
    try {
      await write({ reconciled })
      toast(
        reconciled
          ? t`${plural(count, { one: '# payment marked as reconciled', other: '# payments marked as reconciled' })}`
          : t`${plural(count, { one: '# payment no longer reconciled', other: '# payments no longer reconciled' })}`,
        { tone: 'good' },
      )
    } catch (error) {
      toast(describeError(error).title, { tone: 'bad' })
    } finally {
      setBusy(false)
    }
  }

  if (count === 0) return null
  return (
    <section
      aria-label={t`Selected payments`}
      className="animate-arrive fixed inset-x-4 bottom-[calc(76px+env(safe-area-inset-bottom))] z-20 mx-auto flex w-fit max-w-full flex-wrap items-center gap-1 rounded-xl border border-line bg-raised p-1.5 shadow-lift lg:bottom-6 lg:translate-x-29"
    >
      <span className="figures px-2.5 text-sm font-medium" role="status">
        <Plural one="# selected" other="# selected" value={count} />
      </span>
      {writes && (
        <>
          <Button onClick={() => setLabelling(true)} size="sm" variant="quiet">
            <Trans>Label</Trans>
          </Button>
          <Button
            busy={busy}
            icon={<Icon name="check" />}
            onClick={() => void reconcile(true)}
            size="sm"
            variant="quiet"
          >
            <Trans>Mark reconciled</Trans>
          </Button>
          <Button onClick={() => void reconcile(false)} size="sm" variant="quiet">
            <Trans>Unmark</Trans>
          </Button>
        </>
      )}
      <Button onClick={onExport} size="sm" variant="quiet">
        <Trans>Export</Trans>
      </Button>
      <Button
        icon={<Icon name="cross" size={14} />}
        onClick={selection.clear}
        size="sm"
        variant="quiet"
      >
        <Trans>Clear</Trans>
      </Button>
      <LabelDialog
        count={count}
        onClose={() => setLabelling(false)}
        onLabel={(label, what) =>
          write(what === 'add' ? { addLabels: [label] } : { removeLabels: [label] })
        }
        open={labelling}
      />
    </section>
  )
}

type LabelDialogProps = {
  count: number
  open: boolean
  onClose: () => void
  /** @throws ApiError */
  onLabel: (label: string, what: 'add' | 'remove') => Promise<void>
}

/** Puts one label on all selected payments, or takes it off them. */
function LabelDialog({ count, open, onClose, onLabel }: LabelDialogProps) {
  const { t } = useLingui()
  const list = useId()
  const { data: labels = [] } = useQuery({ ...labelsQuery, enabled: open })
  const [label, setLabel] = useState('')
  const [what, setWhat] = useState<'add' | 'remove'>('add')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const wrong = /[,\p{Cc}]/u.test(label) ? <Trans>Remove the comma.</Trans> : undefined

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
      description={<Trans>Visible to your team and in exports.</Trans>}
      onClose={onClose}
      open={open}
      size="sm"
      title={<Plural one="Label # payment" other="Label # payments" value={count} />}
    >
      <form className="grid gap-4" onSubmit={(event) => void submit(event)}>
        <Segmented
          label={t`Action`}
          onChange={setWhat}
          options={[
            { value: 'add', label: t`Add` },
            { value: 'remove', label: t`Remove` },
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
            {what === 'add' ? <Trans>Add</Trans> : <Trans>Remove</Trans>}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
